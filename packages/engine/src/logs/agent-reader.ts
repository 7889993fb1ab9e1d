import { setImmediate } from 'node:timers/promises';
import { TokenBucket } from '@lodge/domain';
import type {
  AgentLogStore,
  AgentRow,
  AgentRuntime,
  LogSource,
  NewLogEntry,
  RuntimeLogLine,
  VmDriver,
} from '@lodge/ports';
import { maxLogLine } from '@lodge/ports';
import { guestOfRow } from '../agents/guest-of.ts';
import { LineCleaner, LineSplitter } from './lines.ts';
import { refusedEntries } from './refused.ts';

/** What is kept of one agent's lines, all sources together. */
export interface LogRate {
  readonly perSecond: number;
  /** Lines at once after a pause. */
  readonly burst: number;
  /** Characters that are looked at. */
  readonly charsPerSecond: number;
  readonly charsBurst: number;
}

export interface ReaderDeps {
  readonly logs: Pick<AgentLogStore, 'append' | 'appendFrom' | 'position'>;
  readonly driver: Pick<VmDriver, 'readConsole' | 'readRefused' | 'guestCredential' | 'pace'>;
  readonly rate: LogRate;
}

/** A read of the runtime's log gives a piece of bounded size. A guest that writes faster than this many a round falls behind. */
const maxPieces = 8;
/** Cleaned in one go, in characters: a millisecond or two. Whatever else waits for this thread comes in between. */
const sliceChars = 64 * 1024;
/** The guest's clock may be off by as much. */
const clockToleranceMs = 5_000;

/** Reads one agent's console and runtime log into the store. One read at a time. */
export class AgentReader {
  private readonly agentId: string;
  private readonly deps: ReaderDeps;
  private readonly lineBucket: TokenBucket;
  private readonly charBucket: TokenBucket;
  private readonly consoleLines = new LineSplitter();
  private readonly cleaners = { console: new LineCleaner(), gateway: new LineCleaner() };
  private readonly dropped = { console: 0, gateway: 0 };
  private quietRounds = 0;

  constructor(agentId: string, deps: ReaderDeps) {
    this.agentId = agentId;
    this.deps = deps;
    const { perSecond, burst, charsPerSecond, charsBurst } = deps.rate;
    this.lineBucket = new TokenBucket({ perSecond, burst });
    this.charBucket = new TokenBucket({ perSecond: charsPerSecond, burst: charsBurst });
  }

  /** What a console has printed is read once; when it cannot be stored it is lost, and the caller says so. */
  async readConsole(): Promise<void> {
    const text = await this.deps.driver.readConsole(this.agentId);
    this.quietRounds = text === '' ? this.quietRounds + 1 : 0;
    const lines = [...this.consoleLines.push(text), ...(this.quietRounds === 1 ? this.consoleLines.flush() : [])];
    const entries = await this.entriesOf('console', lines.length, (index) => ({
      at: null,
      level: 'info',
      message: lines[index]!,
    }));
    if (entries.length > 0) await this.deps.logs.append(this.agentId, entries);
  }

  /** Read once, as what a console has printed. It has a bound of its own: a flood of other lines hides none of these. */
  async readRefused({ egress }: AgentRow): Promise<void> {
    const entries = refusedEntries(await this.deps.driver.readRefused(this.agentId), egress.mode);
    if (entries.length > 0) await this.deps.logs.append(this.agentId, entries);
  }

  async readRuntimeLog(row: AgentRow, runtime: AgentRuntime, signal: AbortSignal): Promise<void> {
    const { vmAddress, executionId } = row;
    if (vmAddress === null || executionId === null) return;
    const guest = guestOfRow(this.deps.driver, row);
    // Asked anew each time: another process may have gone on from here, and a write whose answer was lost may have happened.
    let offset = (await this.deps.logs.position(this.agentId, 'gateway'))?.offset ?? 0;
    for (let pieces = 0; pieces < maxPieces; pieces += 1) {
      const { lines, nextOffset, leftOut = 0 } = await runtime.readLog(guest, offset, signal);
      signal.throwIfAborted();
      if (nextOffset === offset) return;
      const own = ownLines(row, lines);
      const entries = await this.entriesOf('gateway', own.length, (index) => own[index]!, leftOut);
      await this.deps.logs.appendFrom(this.agentId, 'gateway', { executionId, offset: nextOffset }, entries);
      // A disk that lost its last seconds with the VM has a shorter log than was read.
      if (nextOffset < offset) return;
      offset = nextOffset;
    }
  }

  /** Of the first `count` lines those that the rate leaves; `leftOut` more were not even read. */
  private async entriesOf(
    source: LogSource & ('console' | 'gateway'),
    count: number,
    lineAt: (index: number) => RuntimeLogLine,
    leftOut = 0,
  ): Promise<NewLogEntry[]> {
    // Before anything costly is done with them.
    const taken = this.lineBucket.take(count, performance.now());
    const entries: NewLogEntry[] = [];
    let cleaned = 0;
    let sliceEnd = sliceChars;
    let index = 0;
    for (; index < taken; index += 1) {
      const { at, level, message } = lineAt(index);
      const chars = Math.min(message.length, maxLogLine);
      if (this.charBucket.take(chars, performance.now()) < chars) break;
      const clean = this.cleaners[source].clean(message);
      if (clean !== null) entries.push({ level, source, message: clean, ...(at === null ? {} : { at }) });
      cleaned += chars;
      if (cleaned < sliceEnd) continue;
      sliceEnd = cleaned + sliceChars;
      await setImmediate();
    }
    this.dropped[source] += count - index + leftOut;
    // Said once a round has room again, or there is nothing else to say.
    if (this.dropped[source] > 0 && index === count && leftOut === 0) {
      const { perSecond, charsPerSecond } = this.deps.rate;
      const rate = `${perSecond} lines or ${Math.round(charsPerSecond / 1024)} KiB a second`;
      const message = `${this.dropped[source]} lines were left out here: the agent writes more than ${rate}.`;
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
