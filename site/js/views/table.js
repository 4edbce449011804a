// The views beside that of tiles and atoms. A new one is a file that makes a scene (scene.js), and a line here.
import { axes } from "./axes.js";
import { items } from "./items.js";
import { levels } from "./levels.js";
import { queues } from "./queues.js";

export const VIEWS = { items, axes, levels, queues };
