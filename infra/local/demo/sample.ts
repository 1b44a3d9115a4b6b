/** The sample: a bakery's till in a few lines of shell, its checks, and eleven pull requests with what becomes of each. */
import { ADA, BEN, CAM, type Files, type Sample, type SamplePullRequest } from "./scene.ts";

/** The pauses are there so that there is something to watch; the proof runs the scripts without them. */
const CONFIG = `# The checks that every pull request has to pass on top of everything ahead of it.
checks:
  unit: sleep 0.6 && sh checks/unit.sh
  lint: sleep 0.3 && sh checks/lint.sh
`;

const prices = (name: string): string => `# In cents.
${name}() {
  case "$1" in
    bread) echo 250 ;;
    cake) echo 1800 ;;
    *) return 1 ;;
  esac
}
`;

const receipt = (price: string): string => `. ./prices.sh
. ./tax.sh
. ./round.sh

receipt() {
  total=0
  for item in "$@"; do
    total=$((total + $(${price} "$item")))
  done
  round $((total + total * TAX_PERCENT / 100))
}
`;

const tax = (percent: number): string => `TAX_PERCENT=${percent}\n`;
const test = (source: string, truth: string): string => `. ./${source}\n[ ${truth} ]\n`;

const BASE: Files = {
  ".mainline.yaml": CONFIG,
  "checks/unit.sh": 'for test in tests/*.sh; do\n  sh "$test" || { echo "$test failed"; exit 1; }\ndone\n',
  "checks/lint.sh": 'for file in *.sh */*.sh; do\n  sh -n "$file" || exit 1\ndone\n',
  "prices.sh": prices("price"),
  "tax.sh": tax(7),
  "round.sh": 'round() {\n  echo "$1"\n}\n',
  "receipt.sh": receipt("price"),
  "till.sh": '. ./receipt.sh\n\ntill() {\n  receipt "$@"\n}\n',
  "menu.txt": "cake\nbread\n",
  "tests/receipt.sh": test("receipt.sh", '"$(receipt bread)" -ge 250'),
};

const GREETING: Files = {
  "greeting.sh": "greeting() {\n  echo Welcome\n}\n",
  "tests/greeting.sh": test("greeting.sh", '"$(greeting)" = Welcome'),
};
/** So slow that it is cancelled before it is through, on any machine. */
const LOGO: Files = { "logo.txt": "(~)\n", "tests/logo.sh": "sleep 120\n" };
/** Renames a function everywhere that main knows it … */
const RENAMING: Files = { "prices.sh": prices("unit_price"), "receipt.sh": receipt("unit_price") };
/** … while this calls it by its old name in a place of its own: no conflict in text, and broken together. */
const DISCOUNT: Files = {
  "discount.sh": '. ./prices.sh\n\ndiscounted() {\n  full=$(price "$1") || return 1\n  echo $((full * 9 / 10))\n}\n',
  "tests/discount.sh": test("discount.sh", '"$(discounted cake)" = 1620'),
};
const ROUNDING: Files = { "round.sh": "round() {\n  echo $(($1 / 1000 * 1000))\n}\n" };
const EMPTY_BASKET: Files = {
  "till.sh": '. ./receipt.sh\n\ntill() {\n  if [ $# -eq 0 ]; then echo 0; else receipt "$@"; fi\n}\n',
  "tests/till.sh": test("till.sh", '"$(till)" -eq 0'),
};

/** The numbers by which the story calls them. */
export const PR = {
  first: 1,
  conflicting: { ahead: 2, behind: 4 },
  cancelled: 3,
  together: { ahead: 5, behind: 6 },
  urgent: 10,
  late: 11,
} as const;

/** What the author of the conflicting pull request makes of the conflict. */
export const RESOLUTION: Files = { "tax.sh": tax(19) };

const PULL_REQUESTS: readonly SamplePullRequest[] = [
  { number: 1, title: "Greet the customers", author: ADA, files: GREETING, ends: "MERGED" },
  { number: 2, title: "Charge 20 % tax", author: BEN, files: { "tax.sh": tax(20) }, ends: "MERGED" },
  { number: 3, title: "Try a new logo", author: CAM, files: LOGO, ends: "CANCELLED" },
  { number: 4, title: "Charge 19 % tax", author: ADA, files: RESOLUTION, ends: "MERGED" },
  { number: 5, title: "Rename price to unit_price", author: BEN, files: RENAMING, ends: "MERGED" },
  { number: 6, title: "Offer a discount", author: CAM, files: DISCOUNT, ends: "FAILED" },
  { number: 7, title: "Round prices down", author: ADA, files: ROUNDING, ends: "FAILED" },
  { number: 8, title: "Sort the menu", author: BEN, files: { "menu.txt": "bread\ncake\n" }, ends: "MERGED" },
  { number: 9, title: "Tell the opening hours", author: CAM, files: { "hours.txt": "7-18\n" }, ends: "MERGED" },
  { number: 10, title: "Let the basket be empty", author: ADA, files: EMPTY_BASKET, ends: "MERGED" },
  { number: 11, title: "Say where we are", author: BEN, files: { "address.txt": "Mill Lane 3\n" }, ends: "MERGED" },
];

export const BAKERY: Sample = {
  name: "bakery",
  subject: "A bakery's till",
  base: BASE,
  checks: ["checks/unit.sh", "checks/lint.sh"],
  pullRequests: PULL_REQUESTS,
};
