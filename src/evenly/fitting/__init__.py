"""`evenly fit`: measure what work costs on a GPU, and fit the numbers of the model that `auto` chooses by.

tasks      the kernels that are measured
measuring  every schedule that may be the fastest, on random matrices by families: cases
cases      a case: times, and what the model looks at; files of times
vector     the numbers as one vector, and as the text of a data file
batch      the predictions of all cases at once, with derivatives
fit        finds the numbers by which choosing loses least
report     what choosing loses, also on families that a fit has not seen
losses     each wrong choice by the numbers of today, and what misled it
workers    processes that compile
"""
