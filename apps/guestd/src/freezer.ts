/**
 * Keeps everything that runs in the guest still but this daemon, so that no code of the agent's runs between the copy of its memory
 * and the new generation (`generation.ts`).
 *
 *   lodge   control group of this daemon and its helper; what it starts begins there
 *   agent   everything else, moved there as it is started, and whatever was missed as it is frozen
 *
 * The control groups hold no limits. Groups that somebody else makes beside them are frozen too. The kernel's own threads and
 * init stay in the root group, which cannot be frozen.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal, systemCode } from './errors.ts';
import type { Journal } from './journal.ts';
import { agentGroup, groupsFolder } from './processes.ts';

const ownGroup = 'lodge';
/** A process that waits for the disk is frozen once it has what it waits for. */
const deadlineMs = 5_000;
const pauseMs = 2;

export class Freezer {
  private readonly folder: string;
  private readonly journal: Journal;
  /** Processes that answer the host while the others are frozen. */
  private readonly helpers: () => readonly number[];
  private wanted = false;

  constructor(root: string, journal: Journal, helpers: () => readonly number[]) {
    this.folder = groupsFolder(root);
    this.journal = journal;
    this.helpers = helpers;
    if (!this.available()) return;
    try {
      for (const group of [ownGroup, agentGroup]) mkdirSync(`${this.folder}/${group}`, { recursive: true });
      this.move(process.pid, ownGroup);
    } catch (error) {
      // Root in the guest may do with its control groups what it likes; the daemon runs all the same.
      journal.error('control groups are not usable: processes cannot be frozen', error);
    }
  }

  private available(): boolean {
    return existsSync(`${this.folder}/cgroup.controllers`);
  }

  /** Resolves once nothing of the agent's runs; `gone` aborts when nobody waits for that any more, and all goes on. */
  async freeze(gone: AbortSignal): Promise<void> {
    if (!this.available()) throw new Refusal(409, 'the guest has no control groups');
    this.wanted = true;
    const deadline = performance.now() + deadlineMs;
    const over = (): boolean => !this.wanted || gone.aborted || performance.now() > deadline;
    // What began meanwhile is moved, and so frozen, too.
    for (let strays = this.strays(); strays.length > 0 || !this.frozen(); strays = this.strays()) {
      for (const pid of strays) this.move(pid, agentGroup);
      for (const group of this.groups()) this.set(group, true);
      if (over()) break;
      if (!this.frozen()) await sleep(pauseMs);
    }
    if (gone.aborted) this.thaw();
    if (!this.wanted) throw new Refusal(409, 'the agent’s processes were let go on meanwhile');
    if (!this.frozen()) {
      this.journal.error(`some of the agent’s processes were not frozen within ${deadlineMs} ms`);
      throw new Refusal(409, 'the agent’s processes cannot be frozen');
    }
  }

  /** Lets all go on; without effect where nothing is frozen. */
  thaw(): void {
    this.wanted = false;
    if (!this.available()) return;
    for (const group of this.groups()) this.set(group, false);
  }

  private groups(): string[] {
    const entries = readdirSync(this.folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && entry.name !== ownGroup).map(({ name }) => name);
  }

  /** Processes in the daemon's group that are none of its own. */
  private strays(): number[] {
    const own = new Set([process.pid, ...this.helpers()]);
    const pids = readFileSync(`${this.folder}/${ownGroup}/cgroup.procs`, 'utf8').split('\n');
    return pids.filter((pid) => pid !== '' && !own.has(Number(pid))).map(Number);
  }

  private move(pid: number, group: string): void {
    try {
      writeFileSync(`${this.folder}/${group}/cgroup.procs`, String(pid));
    } catch (error) {
      if (systemCode(error) !== 'ESRCH') throw error; // It has ended.
    }
  }

  private set(group: string, frozen: boolean): void {
    writeFileSync(`${this.folder}/${group}/cgroup.freeze`, frozen ? '1' : '0');
  }

  private frozen(): boolean {
    const events = (group: string): string => readFileSync(`${this.folder}/${group}/cgroup.events`, 'utf8');
    return this.groups().every((group) => /^frozen 1$/m.test(events(group)));
  }
}
