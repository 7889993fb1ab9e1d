/**
 * Looks at the skills of running agents, asked for by reads of their records: a skill of the workspace may hide one of the owner
 * at any time, and nobody tells of that. An agent is asked at most once in a while, and one look at a time. A read waits for it
 * for a moment only. The answer is stored, so the next read has it, on every server. Nothing is woken or kept awake.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@lodge/store/database';
import { skillsOfAgents, writeSeenSkills } from '@lodge/store/skills';
import type { AgentRow } from '@lodge/store/agents';
import type { Agents } from '../agents/agents.ts';
import { nothingPlaced, skillsDigest } from '../agents/settings.ts';
import { seenSkills, wantedOf } from './wanted.ts';

export interface LookBounds {
  /** Shortest time from one look at an agent to the next. */
  readonly everyMs: number;
  /** Longest wait of a read. */
  readonly waitMs: number;
  /** Longest look, times the host's pace. */
  readonly boundMs: number;
  /** Most looks at once. */
  readonly atOnce: number;
}

export const defaultLookBounds: LookBounds = { everyMs: 15_000, waitMs: 2_000, boundMs: 60_000, atOnce: 8 };
/** Agents of which a look is remembered. Beyond, the oldest is forgotten, and its agent asked again. */
const maxRemembered = 10_000;

export interface LooksDeps {
  readonly agents: Pick<Agents, 'seeSkills'>;
  readonly database: Database;
}

interface Look {
  readonly beganAt: number;
  /** Null once it has ended. */
  going: Promise<void> | null;
}

export class SkillLooks {
  readonly #deps: LooksDeps;
  readonly #bounds: LookBounds;
  readonly #looks = new Map<string, Look>();
  #going = 0;

  constructor(deps: LooksDeps, bounds: LookBounds) {
    this.#deps = deps;
    this.#bounds = bounds;
  }

  /** Resolves when the stored states are those of a moment ago, or nobody can say, or it takes too long. Never rejects. */
  async refresh(agent: AgentRow): Promise<void> {
    if (agent.status !== 'running' || agent.operation !== null || !isPlaced(agent)) return;
    const going = this.#lookAt(agent);
    if (going === null) return;
    const late = new AbortController();
    await Promise.race([going, sleep(this.#bounds.waitMs, undefined, { signal: late.signal }).catch(() => undefined)]);
    late.abort();
  }

  /** Returns the look that goes on; null when none does, and none is due. */
  #lookAt(agent: AgentRow): Promise<void> | null {
    const last = this.#looks.get(agent.id);
    if (last?.going) return last.going;
    const now = performance.now();
    if (last !== undefined && now - last.beganAt < this.#bounds.everyMs) return null;
    if (this.#going >= this.#bounds.atOnce) return null;
    this.#looks.delete(agent.id);
    if (this.#looks.size >= maxRemembered) this.#looks.delete(this.#looks.keys().next().value!);
    this.#going += 1;
    const look: Look = { beganAt: now, going: null };
    look.going = this.#look(agent)
      // The guest does not answer, or the agent is being put to sleep. The states stay as they were.
      .catch(() => undefined)
      .finally(() => {
        look.going = null;
        this.#going -= 1;
      });
    this.#looks.set(agent.id, look);
    return look.going;
  }

  async #look(agent: AgentRow): Promise<void> {
    const { agents, database } = this.#deps;
    const rows = await database.repeatable((db) => skillsOfAgents(db, [agent.id]));
    const wanted = wantedOf(agent, rows);
    // Another set is wanted by now, and a pass looks at it once it is in the guest.
    if (wanted.digest !== agent.skillsApplied || wanted.skills.length === 0) return;
    const sights = await agents.seeSkills(agent, wanted, this.#bounds.boundMs);
    if (sights === null) return;
    const seen = seenSkills(rows, sights);
    if (seen.every((skill, at) => isSame(skill, rows[at]!))) return;
    await database.transaction((trx) => writeSeenSkills(trx, agent.id, wanted.set, seen));
  }
}

const isPlaced = (agent: AgentRow): boolean =>
  agent.skillsApplied !== nothingPlaced && agent.skillsApplied === skillsDigest(agent);

type Seen = ReturnType<typeof seenSkills>[number];

const isSame = (one: Seen, other: Omit<Seen, 'state'> & { readonly state: string | null }): boolean =>
  one.state === other.state &&
  one.missingPrograms.join(' ') === other.missingPrograms.join(' ') &&
  one.missingVariables.join(' ') === other.missingVariables.join(' ');
