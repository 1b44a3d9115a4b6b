/**
 * The kinds of partitions that keys.ts makes, each as a pattern of its partition keys in which `*` stands for anything.
 * Rights on the table are given by them. A pattern cannot count parts, so where two fit a key, the first one is its kind.
 */
export const PARTITIONS = {
  tokenByHash: "=TOKEN#*",
  due: "=DUE",
  testsDue: "=TESTS_DUE",
  bundles: "=BUNDLES",
  wakings: "=WAKINGS",
  installation: "=INSTALLATION#*",
  account: "=ACCOUNT#*",
  delivery: "=DELIVERY#*",
  githubBudget: "=GITHUB_BUDGET#*",
  idempotency: "*#IDEMPOTENCY#*",
  branch: "*#BRANCH#*",
  organization: "*#ORG",
  tokens: "*#TOKENS",
  installations: "*#INSTALLATIONS",
  githubRun: "*#GITHUB_RUN#*",
  githubStep: "*#GITHUB_STEP#*",
  githubRepositories: "*#GITHUB_REPOSITORIES",
  githubNames: "*#GITHUB_NAMES#*",
  heardIn: "*#HEARD",
  queues: "*#QUEUES",
  queue: "*#QUEUE",
  pullRequest: "*#PR#*",
  history: "*#HISTORY",
  endedRun: "*#RUNS#*",
  log: "*#LOG",
  targets: "*#TARGETS#*",
  targetHashes: "*#TARGET_HASHES#*",
  testSet: "*#TESTS#SET#*",
  testSetBases: "*#TESTS#SET_BASES",
  testUploads: "*#TESTS#UPLOADS",
  testUpload: "*#TESTS#UPLOAD#*",
  failures: "*#TESTS#FAILURES#*",
  tests: "*#TESTS#TEST",
  testSettings: "*#TESTS#SETTINGS",
} as const;

export type Partition = keyof typeof PARTITIONS;

export const isPartition = (name: string): name is Partition => Object.hasOwn(PARTITIONS, name);
