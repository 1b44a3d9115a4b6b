/** Every minute (locally every few seconds): heals what messages lost, and grants wishes for schedules. */
import { sweep } from "../../shared/queue/app/sweep.ts";
import { settleWakings } from "../../shared/queue/app/wakings.ts";
import { withScheduler } from "../scheduler.ts";
import { wired } from "../wiring.ts";
import { withGitHub } from "../with-github.ts";
import { work } from "../work.ts";

export const handler = work(
  wired,
  async (app) => {
    await sweep(app);
    await settleWakings(app, app.scheduler);
  },
  withGitHub(withScheduler),
);
