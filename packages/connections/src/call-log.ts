import { TokenBuckets, redact } from '@lodge/domain';
import type { AgentLogWriter, Log, LogLevel } from '@lodge/ports';

/** Rate of log lines of one agent. Further calls are counted and reported with the next line. */
const rate = { perSecond: 2, burst: 120 };
const mostCounted = 10_000;

/** Writes one line per call to the log of its agent. A log that cannot be written stops no call. */
export class CallLog {
  readonly #logs: AgentLogWriter;
  readonly #log: Log;
  readonly #rate = new TokenBuckets(rate);
  readonly #unlogged = new Map<string, number>();
  readonly #writing = new Set<Promise<void>>();

  constructor(logs: AgentLogWriter, log: Log) {
    this.#logs = logs;
    this.#log = log;
  }

  /** Writes a line. `sentence` contains neither a query nor a credential. */
  write(agentId: string, level: LogLevel, sentence: string): void {
    const unlogged = this.#unlogged.get(agentId) ?? 0;
    if (!this.#rate.allows(agentId, performance.now())) {
      if (unlogged > 0 || this.#unlogged.size < mostCounted) this.#unlogged.set(agentId, unlogged + 1);
      return;
    }
    this.#unlogged.delete(agentId);
    const more = unlogged === 0 ? '' : ` ${unlogged} calls before it have no line.`;
    const entry = { level, source: 'egress', message: redact(sentence) + more } as const;
    const writing = this.#logs.append(agentId, [entry]).catch((error: unknown) => {
      this.#log.warn({ err: error, agent_id: agentId }, 'a call of a connection has no line in the log');
    });
    this.#writing.add(writing);
    void writing.then(() => this.#writing.delete(writing));
  }

  async close(): Promise<void> {
    await Promise.all(this.#writing);
  }
}
