import type {
  AgentLogStore,
  AgentRow,
  AgentRuntime,
  LogSource,
  NewLogEntry,
  RuntimeLogLine,
  VmDriver,
} from '@lodge/ports';
import { LineCleaner, LineSplitter } from './lines.ts';
import { TokenBucket } from './token-bucket.ts';
import type { Rate } from './token-bucket.ts';

export interface ReaderDeps {
  readonly logs: Pick<AgentLogStore, 'append' | 'appendFrom' | 'position'>;
  readonly driver: Pick<VmDriver, 'readConsole'>;
  readonly rate: Rate;
}

/** A read of the runtime's log gives a piece of bounded size. A guest that writes faster than this many a round falls behind. */
const maxPieces = 4;
/** The guest's clock may be off by as much. */
const clockToleranceMs = 5_000;

/** Reads one agent's console and runtime log into the store. One read at a time. */
export class AgentReader {
  private readonly agentId: string;
  private readonly deps: ReaderDeps;
  private readonly bucket: TokenBucket;
  private readonly consoleLines = new LineSplitter();
  private readonly cleaners = { console: new LineCleaner(), gateway: new LineCleaner() };
  private readonly dropped = { console: 0, gateway: 0 };
  private quietRounds = 0;

  constructor(agentId: string, deps: ReaderDeps) {
    this.agentId = agentId;
    this.deps = deps;
    this.bucket = new TokenBucket(deps.rate);
  }

  /** What a console has printed is read once; when it cannot be stored it is lost, and the caller says so. */
  async readConsole(): Promise<void> {
    const text = await this.deps.driver.readConsole(this.agentId);
    this.quietRounds = text === '' ? this.quietRounds + 1 : 0;
    const lines = [...this.consoleLines.push(text), ...(this.quietRounds === 1 ? this.consoleLines.flush() : [])];
    const entries = this.entriesOf(
      'console',
      lines.map((message) => ({ at: null, level: 'info', message })),
    );
    if (entries.length > 0) await this.deps.logs.append(this.agentId, entries);
  }

  async readRuntimeLog(row: AgentRow, runtime: AgentRuntime, signal: AbortSignal): Promise<void> {
    const { vmAddress, executionId } = row;
    if (vmAddress === null || executionId === null) return;
    // Asked anew each time: another process may have gone on from here, and a write whose answer was lost may have happened.
    let offset = (await this.deps.logs.position(this.agentId, 'gateway'))?.offset ?? 0;
    for (let pieces = 0; pieces < maxPieces; pieces += 1) {
      const { lines, nextOffset } = await runtime.readLog({ address: vmAddress }, offset, signal);
      signal.throwIfAborted();
      if (nextOffset === offset) return;
      const entries = this.entriesOf('gateway', ownLines(row, lines));
      await this.deps.logs.appendFrom(this.agentId, 'gateway', { executionId, offset: nextOffset }, entries);
      // A disk that lost its last seconds with the VM has a shorter log than was read.
      if (nextOffset < offset) return;
      offset = nextOffset;
    }
  }

  private entriesOf(source: LogSource & ('console' | 'gateway'), lines: readonly RuntimeLogLine[]): NewLogEntry[] {
    // Before anything costly is done with them.
    const taken = this.bucket.take(lines.length);
    const cleaner = this.cleaners[source];
    const entries = lines.slice(0, taken).flatMap(({ at, level, message }): NewLogEntry[] => {
      const clean = cleaner.clean(message.replaceAll('\n', ' '));
      return clean === null ? [] : [{ level, source, message: clean, ...(at === null ? {} : { at }) }];
    });
    this.dropped[source] += lines.length - taken;
    // Said once a round has room again, or there is nothing else to say.
    if (this.dropped[source] > 0 && taken === lines.length) {
      const { perSecond } = this.deps.rate;
      const message = `${this.dropped[source]} lines were left out here: the agent writes more than ${perSecond} a second.`;
      entries.unshift({ level: 'warn', source, message });
      this.dropped[source] = 0;
    }
    return entries;
  }
}

/** A clone's log begins with the one of its template, which is not the agent's. */
function ownLines({ createdAt }: AgentRow, lines: readonly RuntimeLogLine[]): readonly RuntimeLogLine[] {
  const first = createdAt.getTime() - clockToleranceMs;
  let own = true;
  return lines.filter(({ at }) => {
    if (at !== null) own = at.getTime() >= first;
    return own;
  });
}
