import { setImmediate } from 'node:timers/promises';
import { TokenBucket } from '@lodge/domain';
import type { AgentRuntime, LogSource, NewLogEntry, RuntimeLogLine, VmDriver } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { maxLogLine } from '@lodge/ports';
import type { Database } from '@lodge/store/database';
import { appendLog, appendLogFrom, logPosition } from '@lodge/store/logs';
import { guestOfRow } from '../agents/guest-of.ts';
import { LineCleaner, LineSplitter } from './lines.ts';
import { refusedEntries } from './refused.ts';

/** How many of one agent's lines are kept, all sources together. */
export interface LogRate {
  readonly perSecond: number;
  /** Lines that may come at once after a pause. */
  readonly burst: number;
  /** Characters that are processed. */
  readonly charsPerSecond: number;
  readonly charsBurst: number;
}

export interface ReaderDeps {
  readonly database: Database;
  readonly driver: Pick<VmDriver, 'readConsole' | 'readRefused' | 'dial' | 'guestCredential' | 'pace'>;
  readonly rate: LogRate;
}

/**
 * Pieces of one round. Each read of the runtime's log returns a piece of bounded size, so a guest that writes faster falls
 * behind.
 */
const maxPieces = 8;
/** Characters that are cleaned in one go: a millisecond or two. Other work of this thread runs in between. */
const sliceChars = 64 * 1024;
/** The guest's clock may be off by this much. */
const clockToleranceMs = 5_000;

/** Reads one agent's console and runtime log into the store, one read at a time. */
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

  /** Reads the console. Each line can be read only once; lines that cannot be stored are lost, and the caller says so. */
  async readConsole(): Promise<void> {
    const text = await this.deps.driver.readConsole(this.agentId);
    this.quietRounds = text === '' ? this.quietRounds + 1 : 0;
    const lines = [...this.consoleLines.push(text), ...(this.quietRounds === 1 ? this.consoleLines.flush() : [])];
    const entries = await this.entriesOf('console', lines.length, (index) => ({
      at: null,
      level: 'info',
      message: lines[index]!,
    }));
    await this.append(entries);
  }

  /**
   * Reads the refused connections. Like console lines they can be read only once. They have a bound of their own, so a flood
   * of other lines hides none of them.
   */
  async readRefused({ egress }: AgentRow): Promise<void> {
    const entries = refusedEntries(await this.deps.driver.readRefused(this.agentId), egress.mode);
    await this.append(entries);
  }

  async readRuntimeLog(row: AgentRow, runtime: AgentRuntime, signal: AbortSignal): Promise<void> {
    const { vmAddress, executionId } = row;
    if (vmAddress === null || executionId === null) return;
    const { database, driver } = this.deps;
    const guest = guestOfRow(driver, row);
    // The position is read anew each time: another process may have gone on from here, and a write whose answer was lost may
    // have happened.
    let offset = (await database.repeatable((db) => logPosition(db, this.agentId, 'gateway')))?.offset ?? 0;
    for (let pieces = 0; pieces < maxPieces; pieces += 1) {
      const { lines, nextOffset, leftOut = 0 } = await runtime.readLog(guest, offset, signal);
      signal.throwIfAborted();
      if (nextOffset === offset) return;
      const own = ownLines(row, lines);
      const entries = await this.entriesOf('gateway', own.length, (index) => own[index]!, leftOut);
      const position = { executionId, offset: nextOffset };
      await database.transaction((trx) => appendLogFrom(trx, this.agentId, 'gateway', position, entries));
      // A disk that lost its last seconds with the VM has a shorter log than was read.
      if (nextOffset < offset) return;
      offset = nextOffset;
    }
  }

  private async append(entries: readonly NewLogEntry[]): Promise<void> {
    if (entries.length > 0) await this.deps.database.transaction((trx) => appendLog(trx, this.agentId, entries));
  }

  /** Returns those of the first `count` lines that the rate allows; `leftOut` more were not even read. */
  private async entriesOf(
    source: LogSource & ('console' | 'gateway'),
    count: number,
    lineAt: (index: number) => RuntimeLogLine,
    leftOut = 0,
  ): Promise<NewLogEntry[]> {
    // The rate applies before any costly work on the lines.
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
    // The gap is reported once a round has room again, or there is nothing else to report.
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

/** Removes the first lines of a clone's log, which are its template's and not the agent's. */
function ownLines({ createdAt }: AgentRow, lines: readonly RuntimeLogLine[]): readonly RuntimeLogLine[] {
  const first = createdAt.getTime() - clockToleranceMs;
  let own = true;
  return lines.filter(({ at }) => {
    if (at !== null) own = at.getTime() >= first;
    return own;
  });
}
