/** The little of a syntax tree that is looked at here. */
type Path = {
  readonly node: {
    readonly type: string;
    readonly value?: unknown;
    readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
  };
};

/** A text with a blank in it is a sentence, or a part of one: the states, kinds, reasons and keys of the engine have none. */
function isSentence({ node }: Path): boolean {
  if (node.type === "StringLiteral") return typeof node.value === "string" && node.value.includes(" ");
  return node.type === "TemplateLiteral" && (node.quasis ?? []).some((part) => part.value.raw.includes(" "));
}

export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "sentences",
    value: {
      shouldIgnore: (path: Path): string | undefined => (isSentence(path) ? "a sentence for people" : undefined),
    },
  },
];
