import { unknownPath } from "../../shared/http/unknown-path.ts";
import type { ApiEvent, Answer } from "../../shared/http/event.ts";

/** The gateway's `$default`: whatever no route takes. Needs no token and nothing behind it. */
export const handler = async (event: ApiEvent): Promise<Answer> => unknownPath(event);
