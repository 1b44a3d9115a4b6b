import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { type Measured, measure } from "./collect.ts";
import type { QueueFacts } from "./facts.ts";
import { LABELS, QUEUE_TYPES, SERIES, type Series } from "./series.ts";

type Labels = Readonly<Record<string, string>>;
type Put = (labels: Labels, measured: Measured) => void;

/**
 * The queues' metrics in Prometheus' text format; empty without queues. The registry lives for this one text: a queue
 * that is gone leaves nothing behind, and nothing is shared with other organizations.
 */
export async function metricsText(queues: readonly QueueFacts[]): Promise<string> {
  if (queues.length === 0) return "";
  const registry = new Registry();
  const all = Object.entries(SERIES).map(([name, series]) => [name, putter(registry, name, series)] as const);
  const put: Readonly<Record<string, Put>> = Object.fromEntries(all);
  const nameOf = repoNames(queues);
  for (const queue of queues)
    for (const type of QUEUE_TYPES) {
      const common = { repo: nameOf(queue), branch: queue.branch, queue_type: type };
      for (const [name, measures] of Object.entries(measure(queue, type)))
        for (const measured of measures) put[name]?.(common, measured);
    }
  return registry.metrics();
}

function putter(registry: Registry, name: string, { type, help, labels = [], buckets = [] }: Series): Put {
  const config = { name, help, labelNames: [...LABELS, ...labels], registers: [registry] };
  if (type === "histogram") {
    const histogram = new Histogram({ ...config, buckets: [...buckets] });
    return (common, measured) => {
      histogram.zero(common);
      if ("observed" in measured) for (const value of measured.observed) histogram.observe(common, value);
    };
  }
  const metric = type === "counter" ? new Counter(config) : new Gauge(config);
  return (common, measured) => {
    if ("value" in measured) metric.inc({ ...common, ...measured.labels }, measured.value);
  };
}

/**
 * `owner/name`, as dashboards know it. Where two hosts have a repository of that name, the host comes before it, since
 * two queues under the same labels would be no valid text; a query by `repo` and `repoHost` never meets that.
 */
function repoNames(queues: readonly QueueFacts[]): (queue: QueueFacts) => string {
  const hosts = new Map<string, Set<string>>();
  const plain = ({ repo }: QueueFacts): string => `${repo.owner}/${repo.name}`;
  const key = (queue: QueueFacts): string => plain(queue).toLowerCase();
  for (const queue of queues) {
    const known = hosts.get(key(queue)) ?? new Set();
    hosts.set(key(queue), known.add(queue.repo.host.toLowerCase()));
  }
  return (queue) => ((hosts.get(key(queue))?.size ?? 0) > 1 ? `${queue.repo.host}/${plain(queue)}` : plain(queue));
}
