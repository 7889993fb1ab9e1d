/** The plan: what is there beside what the files want, and the steps from one to the other. Making it changes nothing. */
import type { Agent, Lodge } from '@lodge/sdk';
import type { Run } from '../run.ts';
import { createStep, peersStep, runtimeOf, updateStep } from './agent-fields.ts';
import type { Peers } from './agent-fields.ts';
import { confirmationsStep } from './confirmations-step.ts';
import type { Problem } from './file/document.ts';
import { WrongEntry, filesStep, localFiles } from './files.ts';
import { pooled } from './pool.ts';
import { askFingerprints } from './file/secret.ts';
import { mentioned, planSection } from './sections.ts';
import { sections } from './section-table.ts';
import { unknownSkills } from './skills-section.ts';
import { stateSteps } from './state.ts';
import type { Acting, Step } from './step.ts';
import { WrongFiles } from './file/wanted.ts';
import type { Placed, Wanted } from './file/wanted.ts';
import { planWebhooks } from './webhooks.ts';

export interface AgentPlan {
  readonly name: string;
  /** Null: it is yet to be made. */
  readonly id: string | null;
  readonly steps: readonly Step[];
}

export interface Plan {
  readonly agents: readonly AgentPlan[];
  readonly webhooks: readonly Step[];
  /** Sentences that a person should know beside the changes. */
  readonly notes: readonly string[];
}

export interface PlanOptions {
  readonly isPruned: boolean;
  /** Labels of the agents that `--prune` may remove; undefined: those of the files. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly isChecked: boolean;
}

/** Reads at once. */
const parallelReads = 6;

interface Planning {
  readonly lodge: Lodge;
  readonly call: Acting['call'];
  readonly options: PlanOptions;
  readonly peers: Peers;
  readonly problems: Problem[];
  readonly notes: string[];
}

export async function makePlan(run: Run, wanted: Wanted, options: PlanOptions): Promise<Plan> {
  const lodge = await run.lodge();
  const { call } = run;
  const all: Agent[] = [];
  for await (const agent of lodge.agents.list({ limit: 100 }, call)) all.push(agent);
  const problems: Problem[] = [];
  const found = matched(wanted, all, problems);
  problems.push(...unknownPeers(wanted, all), ...(await unknownSkills(lodge, wanted.agents, call)));
  if (problems.length > 0) throw new WrongFiles(problems);
  if ([...found.values()].some((agent) => agent !== undefined))
    await askFingerprints(lodge, wanted.secrets, run.signal);
  const planning: Planning = { lodge, call, options, peers: peersOf(wanted, found, all), problems, notes: [] };
  const agents = await pooled(wanted.agents, parallelReads, run.signal, (placed) =>
    planAgent(planning, placed, found.get(placed)),
  );
  const webhooks = await planWebhooks(lodge, wanted.webhooks, options.isPruned, call);
  if (problems.length > 0) throw new WrongFiles(problems);
  const removed = options.isPruned ? pruned(wanted, all, found, options, planning.notes) : [];
  return { agents: [...agents, ...removed], webhooks, notes: planning.notes };
}

export const changesOf = ({ agents, webhooks }: Plan): Step[] => [...webhooks, ...agents.flatMap(({ steps }) => steps)];

/** Finds the agent of the account that each agent of the files is. */
function matched(wanted: Wanted, all: readonly Agent[], problems: Problem[]): Map<Placed, Agent | undefined> {
  const found = new Map<Placed, Agent | undefined>();
  const taken = new Map<string, string>();
  for (const placed of wanted.agents) {
    const { name, id, runtime } = placed.agent;
    const same = all.filter((agent) => (id === undefined ? agent.name === name : agent.id === id));
    const note = (field: string, message: string): void => void problems.push(placed.problem([field], message));
    if (id !== undefined && same.length === 0) note('id', 'there is no agent with this id');
    if (same.length > 1)
      note(
        'name',
        `${same.length} agents have this name (${same.map((agent) => agent.id).join(', ')}): pin one by its id`,
      );
    const [agent] = same;
    found.set(placed, agent);
    if (agent === undefined) continue;
    const other = taken.get(agent.id);
    if (other !== undefined) note('name', `is the same agent as ${JSON.stringify(other)}`);
    taken.set(agent.id, name);
    const kind = runtimeOf(agent);
    if (runtime !== undefined && runtime !== kind)
      note('runtime', `the agent is of ${kind}, which cannot be changed: give the new one another name`);
  }
  return found;
}

const idPattern = /^[a-z][a-z0-9]{11}$/;

function unknownPeers({ agents }: Wanted, all: readonly Agent[]): Problem[] {
  const names = new Set(agents.map(({ agent }) => agent.name));
  const problems: Problem[] = [];
  for (const placed of agents) {
    for (const [at, peer] of (placed.agent.peers ?? []).entries()) {
      const same = all.filter((agent) => agent.name === peer || agent.id === peer);
      if (peer === '*' || names.has(peer) || same.length === 1) continue;
      const message = same.length === 0 ? 'no agent has this name or id' : 'several agents have this name: give an id';
      problems.push(placed.problem(['peers', at], message));
    }
  }
  return problems;
}

/** Names of the files go before those of other agents. */
function peersOf({ agents }: Wanted, found: ReadonlyMap<Placed, Agent | undefined>, all: readonly Agent[]): Peers {
  const own = new Map(agents.map((placed) => [placed.agent.name, found.get(placed)?.id]));
  return {
    idOf(name) {
      if (name === '*') return name;
      if (own.has(name)) return own.get(name);
      return all.find((agent) => agent.name === name)?.id ?? (idPattern.test(name) ? name : undefined);
    },
  };
}

async function planAgent(planning: Planning, placed: Placed, agent: Agent | undefined): Promise<AgentPlan> {
  const { options, peers } = planning;
  const wanted = placed.agent;
  const first = agent === undefined ? createStep(wanted, peers) : updateStep(wanted, agent, options.isPruned);
  const listed = await planSections(planning, placed, agent);
  const files = await planFiles(planning, placed, agent);
  const last = peersStep(wanted, agent, peers);
  const steps = [first, ...listed, confirmationsStep(wanted, agent), files, ...stateSteps(wanted, agent), last];
  return {
    name: wanted.name,
    id: agent?.id ?? null,
    steps: steps.filter((step) => step !== undefined),
  };
}

async function planSections(planning: Planning, placed: Placed, agent: Agent | undefined): Promise<Step[]> {
  const { lodge, call, options, problems } = planning;
  const steps: Step[] = [];
  for (const section of sections) {
    const wanted = mentioned(section, placed.agent);
    if (wanted === undefined) continue;
    const runtime = agent === undefined ? placed.agent.runtime : runtimeOf(agent);
    if (runtime !== undefined && section.runtimes?.includes(runtime) === false) {
      if (wanted.size > 0)
        problems.push(placed.problem([section.field], `an agent of ${runtime} has no ${section.field}`));
      continue;
    }
    const present = agent === undefined ? [] : await section.list(lodge, agent.id, call);
    const plan = planSection(section, wanted, present, options.isPruned);
    steps.push(...plan.steps);
    for (const { name, message } of plan.refused)
      problems.push(placed.problem([section.field, ...placeOf(placed, section.field, name)], message));
  }
  return steps;
}

function placeOf({ agent }: Placed, field: string, name: string): (string | number)[] {
  const value = agent[field];
  return Array.isArray(value) ? [value.findIndex((each: { name?: unknown }) => each.name === name)] : [name];
}

async function planFiles(planning: Planning, placed: Placed, agent: Agent | undefined): Promise<Step | undefined> {
  const { lodge, call, options, problems, notes } = planning;
  const { name, files } = placed.agent;
  if (files === undefined) return undefined;
  try {
    const local = await localFiles(files, placed.folder);
    if (local.leftOut.length > 0)
      notes.push(`${name}: ${local.leftOut.length} links and special files are left out of its files.`);
    return await filesStep(lodge, local, agent, options, call);
  } catch (error) {
    if (!(error instanceof WrongEntry)) throw error;
    problems.push(placed.problem(['files', error.at], error.message));
    return undefined;
  }
}

/** Agents that have the labels and are not in the files. */
function pruned(
  { labels: ofFiles }: Wanted,
  all: readonly Agent[],
  found: ReadonlyMap<Placed, Agent | undefined>,
  { labels }: PlanOptions,
  notes: string[],
): AgentPlan[] {
  const selectors = labels === undefined ? ofFiles : [labels];
  if (selectors.length === 0) notes.push('No agent is removed: neither the files nor -l name labels.');
  const kept = new Set([...found.values()].map((agent) => agent?.id));
  return all
    .filter((agent) => !kept.has(agent.id) && selectors.some((selector) => hasLabels(agent, selector)))
    .map(({ id, name }) => ({ name, id, steps: [removal] }));
}

const hasLabels = ({ labels }: Agent, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);

const removal: Step = {
  action: 'delete',
  what: '',
  changes: [],
  isLast: true,
  async do({ lodge, call }, id) {
    await lodge.agents.delete(id, call);
  },
};
