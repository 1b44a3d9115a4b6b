/** What a webhook says that somebody said on a pull request. Whoever looks reads the truth. */
import * as z from "zod";

export type Saying =
  /** `text` is how the comment begins: whether it is worth a look. */
  | { readonly kind: "COMMENT"; readonly prNumber: number; readonly id: number; readonly text: string }
  | { readonly kind: "LABEL"; readonly prNumber: number; readonly label: string };

const number = z.object({ number: z.int().positive() });
const comment = z.object({
  // Comments of issues come by the same event, and have none.
  issue: number.extend({ pull_request: z.object({}) }),
  comment: z.object({ id: z.int().positive(), body: z.string() }),
});
const labelled = z.object({ pull_request: number, label: z.object({ name: z.string().min(1) }) });

const BEGINNING = 500;

export function sayingsIn(event: string, action: string | undefined, payload: unknown): readonly Saying[] {
  if (event === "issue_comment" && action === "created") {
    const read = comment.safeParse(payload).data;
    if (read === undefined) return [];
    const { id, body } = read.comment;
    return [{ kind: "COMMENT", prNumber: read.issue.number, id, text: body.slice(0, BEGINNING) }];
  }
  if (event !== "pull_request" || (action !== "labeled" && action !== "unlabeled")) return [];
  const read = labelled.safeParse(payload).data;
  return read === undefined ? [] : [{ kind: "LABEL", prNumber: read.pull_request.number, label: read.label.name }];
}
