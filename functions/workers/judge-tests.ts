/** Every minute (locally every few seconds): judges the tests of repositories that something came in for, or time has. */
import { judgeDue } from "../../shared/test-health/app/judge.ts";
import { healthSide } from "../health-side.ts";
import { work } from "../work.ts";

export const handler = work(healthSide, judgeDue);
