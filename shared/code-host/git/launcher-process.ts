/** What `launcher.ts` starts. It ends with the process that started it: the channel closes then. */
import { launchHere } from "./launch.ts";
import type { Reply, Request } from "./launcher.ts";

process.on("message", ({ id, order }: Request) => {
  void launchHere(order).then((ending) => {
    const reply: Reply = { id, ending };
    process.send?.(reply);
  });
});
process.on("disconnect", () => process.exit(0));
