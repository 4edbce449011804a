// Light or dark: what the reader chose here or in the docs (which keep it under the same name), else the system's.
const kept = () => {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
};

function apply(choice) {
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

apply(kept());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => apply(kept()));
document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme")?.addEventListener("click", () => {
    const choice = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", choice);
    } catch {
      // without storage the choice is this page's alone
    }
    apply(choice);
    document.dispatchEvent(new Event("themechange"));
  });
});
