// Steps: buttons and a slider of the page, which both explorers share.
const $$ = (id) => document.getElementById(id);

export class Player {
  /** draw(now): called in the next frame when the step has changed. settled(): a reader's choice, not a frame of playing. */
  constructor(draw, settled) {
    Object.assign(this, { now: 0, most: 0, playing: 0, waiting: false, onDraw: draw, settled });
    $$("play").addEventListener("click", () => this.play());
    for (const [id, by] of [["first", -Infinity], ["back", -1], ["next", 1], ["last", Infinity]]) {
      $$(id).addEventListener("click", () => this.by(by));
    }
    $$("step").addEventListener("input", () => {
      this.stop();
      this.go(Number($$("step").value));
    });
    $$("step").addEventListener("change", settled);
    document.addEventListener("keydown", (event) => {
      if (event.target.matches("input, select, textarea, button, summary, a")) return;
      if (event.key === " ") this.play();
      else if (event.key === "," || event.key === ".") this.by(event.key === "," ? -1 : 1);
      else return;
      event.preventDefault();
    });
  }

  /** There are `most` steps now; at: the one to show, or -1 for the end. */
  reset(most, at) {
    this.stop();
    this.most = most;
    this.now = at < 0 || at > most ? most : at;
    $$("step").max = most;
    this.draw();
  }

  /** The step as a link holds it. */
  get kept() {
    return this.now >= this.most ? -1 : this.now;
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      $$("step").value = this.now;
      $$("step-out").textContent = `${this.now} of ${this.most}`;
      $$("step").setAttribute("aria-valuetext", $$("step-out").textContent);
      this.onDraw(this.now);
    });
  }

  go(step) {
    this.now = Math.max(0, Math.min(this.most, step));
    this.draw();
  }

  by(steps) {
    this.stop();
    this.go(this.now + steps);
    this.settled();
  }

  play() {
    if (this.playing) return this.stop();
    if (this.now >= this.most) this.now = 0;
    const rate = Math.max(2, this.most / 8), start = performance.now() - (this.now / rate) * 1000;
    this.said("⏸ Pause", "Pause");
    const frame = (time) => {
      this.go(Math.floor(((time - start) / 1000) * rate));
      if (this.now >= this.most) return this.stop();
      this.playing = requestAnimationFrame(frame);
    };
    this.playing = requestAnimationFrame(frame);
  }

  stop() {
    if (this.playing) cancelAnimationFrame(this.playing);
    this.playing = 0;
    this.said("▶ Play", "Play");
  }

  said(text, label) {
    $$("play").textContent = text;
    $$("play").setAttribute("aria-label", label);
  }
}
