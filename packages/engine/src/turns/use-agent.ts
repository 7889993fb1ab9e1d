/**
 * Gives a request its agent: running, and awake until the request has ended. The keep-awake lease comes first and the look
 * at the agent after it, in one statement. So a pause or stop for idleness was decided either before (then the row shows it,
 * and the request waits for it) or not at all. A request to a running agent, the common case, costs nothing more.
 */
import { Refusal } from '@lodge/domain';
import type { LiveAgent, UseOptions } from '../agents/agents.ts';
import type { ChatEndpoint, ChatTurn, WebEndpoint, WebPage } from '@lodge/ports';
import { countTurn, returnTurnNote, takeTurnNote } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import { act, isAtRest } from '../agents/act.ts';
import { awaitAgent } from '../agents/await-agent.ts';
import type { AgentsDeps } from '../agents/deps.ts';
import { guestOfRow } from '../agents/guest-of.ts';
import { getAgent, isThere, notFound } from '../agents/reading.ts';
import { awaitsSkills } from '../agents/settings.ts';

const flushTimeoutMs = 5_000;
/** Bound on waking an agent that falls asleep again; once is chance. */
const maxWakes = 3;
const maxOwners = 10_000;
/** Longest wait of a message for skills that are on their way into the machine. */
const maxSkillsWaitMs = 60_000;

interface Flush {
  readonly done: Promise<void>;
  /** The flush for users that came since this one began. */
  next: Promise<void> | null;
}

export class Uses {
  private readonly deps: AgentsDeps;
  /** The account of an agent never changes. Known here, another account's request leaves no trace on the agent. */
  private readonly owners = new Map<string, string>();
  /** Running flushes, by the guest's address. */
  private readonly flushes = new Map<string, Flush>();

  constructor(deps: AgentsDeps) {
    this.deps = deps;
  }

  async use(accountId: string, id: string, options: UseOptions): Promise<LiveAgent> {
    await this.checkOwner(accountId, id);
    const deadline = Date.now() + options.timeoutMs;
    const turn = options.message === true;
    let row = await this.deps.keepAwake.take(id, { turn });
    if (row === null) throw notFound(id);
    const isCounted = !turn || isLive(row);
    try {
      let awaitedSkills = options.message !== true;
      for (let wakes = 0; !isLive(row) || (!awaitedSkills && awaitsSkills(row!));) {
        if (!isThere(row)) throw notFound(id);
        if (isLive(row)) {
          awaitedSkills = true;
          row = await this.awaitSkills(id, deadline, options.signal);
          continue;
        }
        // The agent boots; a caller that did not ask to wake it is refused at once.
        if (row.status === 'provisioning' && wakes === 0 && !options.wake) throw notRunning(id);
        if (isAtRest(row)) {
          if (wakes >= maxWakes) throw notAwake(row);
          wakes += 1;
          row = await this.wake(row, options);
        }
        row = await this.awaitRest(id, deadline, options.signal);
        if (row !== null && row.status === 'error' && wakes > 0) throw notAwake(row);
      }
      if (!isCounted) await countTurn(this.deps.database, id);
      return await this.live(row!);
    } catch (error) {
      this.deps.keepAwake.drop(id);
      throw error;
    }
  }

  private async checkOwner(accountId: string, id: string): Promise<void> {
    if (this.owners.get(id) === accountId) return;
    await getAgent(this.deps, accountId, id);
    if (this.owners.size >= maxOwners) this.owners.clear();
    this.owners.set(id, accountId);
  }

  /** Begins the operation that makes the agent run, if it may be woken. */
  private async wake(row: AgentRow, { wake: asked, message = false }: UseOptions): Promise<AgentRow> {
    const { autoResume, autoStart } = row.lifecycle;
    const may = asked || (row.status === 'paused' ? autoResume : row.status === 'stopped' && autoStart);
    if (!may || (row.status !== 'paused' && row.status !== 'stopped')) throw notRunning(row.id);
    const asleep = message ? await this.deps.spend.asleep(row.id, new Date()) : null;
    if (asleep)
      throw new Refusal(asleep.code, asleep.message, { agentId: row.id, retryAfterSeconds: asleep.retryAfterSeconds });
    try {
      return (await act(this.deps, row.accountId, row.id, row.status === 'paused' ? 'resume' : 'start')).row;
    } catch (error) {
      // Another operation came first: the caller waits for it and then decides anew.
      if (error instanceof Refusal && error.code === 'agent_transitioning') return row;
      throw error;
    }
  }

  /** Returns the row when no operation is in progress any more. */
  private async awaitRest(id: string, deadline: number, signal: AbortSignal): Promise<AgentRow | null> {
    const timeoutMs = Math.max(0, deadline - Date.now());
    const row = await awaitAgent(this.deps, id, (now) => !isThere(now) || isAtRest(now), timeoutMs, signal);
    signal.throwIfAborted();
    if (isThere(row) && !isAtRest(row)) {
      throw new Refusal('agent_transitioning', 'The agent did not become ready in time. Try again shortly.', {
        agentId: id,
      });
    }
    return row;
  }

  /** Returns the row when the machine has the wanted skills, or does not take them, or takes too long. */
  private async awaitSkills(id: string, deadline: number, signal: AbortSignal): Promise<AgentRow | null> {
    const timeoutMs = Math.max(0, Math.min(deadline - Date.now(), maxSkillsWaitMs));
    const done = (now: AgentRow | null): boolean => !isLive(now) || !awaitsSkills(now!);
    const row = await awaitAgent(this.deps, id, done, timeoutMs, signal);
    signal.throwIfAborted();
    return row;
  }

  private async live(row: AgentRow): Promise<LiveAgent> {
    const { templates, runtimes, settingsOf, keepAwake } = this.deps;
    const template = row.templateId === null ? null : await templates.get(row.templateId);
    if (template === null || row.vmAddress === null) throw notRunning(row.id);
    // On this host, the address belongs to another agent or to nobody.
    if (row.host !== null && row.host !== this.deps.holder) {
      throw new Refusal('agent_unavailable', 'This agent is on another host of this deployment: ask there.', {
        agentId: row.id,
      });
    }
    const guest = guestOfRow(this.deps.driver, row);
    const runtime = runtimes.get(row.runtimeKind)!;
    const settings = settingsOf(row);
    const endpoint = (turn: ChatTurn): ChatEndpoint => runtime.chatEndpoint(guest, template.facts, settings, turn);
    const { turnFailure, toolStep } = runtime;
    const web = (page: WebPage): WebEndpoint | null => runtime.web(guest, template.facts, settings, page);
    let flushed: Promise<void> | null = null;
    const flush = (): Promise<void> => (flushed ??= this.flush(row));
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      void flush().finally(() => keepAwake.drop(row.id));
    };
    const { database } = this.deps;
    const note = {
      // The common turn asks nothing.
      take: () => (row.turnNote === null ? Promise.resolve(null) : takeTurnNote(database, row.id)),
      putBack: (text: string) => returnTurnNote(database, row.id, text),
    };
    return { row, endpoint, turnFailure, toolStep, guest, web, note, flush, release };
  }

  /**
   * Flushes a guest's disk, one flush at a time. Users that come meanwhile share the next one, which begins after all their
   * changes.
   */
  private flush(row: AgentRow): Promise<void> {
    const present = this.flushes.get(row.vmAddress!);
    if (present) return (present.next ??= present.done.then(() => this.beginFlush(row)));
    return this.beginFlush(row);
  }

  private beginFlush(row: AgentRow): Promise<void> {
    const flush: Flush = { done: this.writeOut(row), next: null };
    this.flushes.set(row.vmAddress!, flush);
    void flush.done.then(() => {
      if (flush.next === null) this.flushes.delete(row.vmAddress!);
    });
    return flush.done;
  }

  /** Puts the turn's changes on the disk of the guest before the agent may sleep. */
  private async writeOut(row: AgentRow): Promise<void> {
    const { id, runtimeKind } = row;
    try {
      const signal = AbortSignal.timeout(flushTimeoutMs);
      await this.deps.runtimes.get(runtimeKind)!.flush(guestOfRow(this.deps.driver, row), signal);
    } catch (error) {
      this.deps.log.warn({ err: error, agent_id: id }, 'the guest did not write out its disk after a turn');
    }
  }
}

function isLive(row: AgentRow | null): boolean {
  return isThere(row) && row.status === 'running' && row.operation === null;
}

const notRunning = (id: string): Refusal =>
  new Refusal('agent_not_running', 'Agent is not running. Start it first.', { agentId: id });

function notAwake({ id, statusReason }: AgentRow): Refusal {
  return new Refusal('internal_error', statusReason?.message ?? 'The agent could not be woken.', { agentId: id });
}
