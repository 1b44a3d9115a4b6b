/** A process that performs the simulations it is sent, one after another. */
import { perform, type Task } from "./tasks.ts";

process.on("message", (task: Task) => process.send?.(perform(task)));
