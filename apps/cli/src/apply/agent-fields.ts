/** Settings of an agent itself: how they are compared, and the bodies of the requests that make and change it. */
import type { Agent, CreateAgent, UpdateAgent } from '@lodge/sdk';
import { StoredSecret, asNew, differences, revealed } from './diff.ts';
import type { FieldChange } from './diff.ts';
import { egressForm, inForm, packagesForm, spendForm, textForm, variablesForm } from './forms.ts';
import { filesKey } from './files.ts';
import { Secret } from './file/secret.ts';
import { isThere } from './section-table.ts';
import { makeOnce } from './step.ts';
import type { Acting, Step } from './step.ts';
import type { Values, WantedAgent } from './file/wanted.ts';
import { runtimes } from '../words.ts';
import type { RuntimeName } from '../words.ts';

const fields =
  'name model description size labels metadata lifecycle spend_limit egress env packages models dashboard browser instructions llm_keys'.split(
    ' ',
  );

/** Maps of which pairs stay that the file does not mention, but with `--prune`. */
const maps = ['labels', 'metadata', 'llm_keys'];

/** Agents that others may ask, by what the file calls them. */
export interface Peers {
  /** Returns the id; undefined for an agent that is yet to be made. */
  idOf(name: string): string | undefined;
}

function wantedValues(agent: WantedAgent): Values {
  const mentioned = Object.fromEntries(
    fields.flatMap((field) => (agent[field] === undefined ? [] : [[field, agent[field]] as const])),
  );
  return inForm(mentioned, {
    spend_limit: spendForm,
    egress: egressForm,
    env: variablesForm,
    packages: packagesForm,
    instructions: textForm,
    description: textForm,
  });
}

export const runtimeOf = ({ runtime_kind: kind }: Agent): RuntimeName => runtimes[kind];

export function presentValues(agent: Agent): Values {
  const { name, model, description, size, lifecycle, models, instructions } = agent;
  const keys = agent.llm_keys.map((stored) => [stored.provider, new StoredSecret(stored)] as const);
  const { [filesKey]: _, ...metadata } = agent.metadata;
  return {
    name,
    model,
    size,
    lifecycle,
    models,
    metadata,
    labels: agent.labels,
    description: textForm(description),
    instructions: textForm(instructions),
    spend_limit: spendForm(agent.spend_limit),
    egress: egressForm(agent.egress),
    env: agent.env,
    packages: packagesForm(agent.packages),
    dashboard: agent.dashboard_url !== null,
    browser: agent.browser,
    llm_keys: Object.fromEntries(keys),
  };
}

/** The step that makes an agent. Peers that are yet to be made are set when they are there. */
export function createStep(agent: WantedAgent, peers: Peers): Step {
  const wanted = wantedValues(agent);
  const ids = (agent.peers ?? []).map((name) => peers.idOf(name));
  const known = ids.every((id) => id !== undefined);
  return {
    action: 'create',
    what: '',
    changes: [
      { field: 'runtime', from: null, to: agent.runtime ?? runtimes.runtime_a },
      ...asNew(wanted).filter(({ field }) => field !== 'name'),
      ...(agent.peers == null ? [] : [{ field: 'peers', from: null, to: agent.peers }]),
    ],
    async do(acting) {
      const body = createBody(wanted, agent, known ? ids : []);
      const made = await createOnce(acting, body, wanted);
      acting.ids.set(agent.name, made.id);
    },
  };
}

function createBody(wanted: Values, { runtime, peers }: WantedAgent, ids: readonly string[]): CreateAgent {
  return {
    ...wanted,
    ...(runtime !== undefined && { runtime_kind: runtime }),
    ...(wanted['llm_keys'] !== undefined && { llm_keys: keysBody(wanted['llm_keys'] as Keys) }),
    ...(peers != null && ids.length > 0 && { peers: ids }),
  } as unknown as CreateAgent;
}

function createOnce({ lodge, call }: Acting, body: CreateAgent, wanted: Values): Promise<Agent> {
  return makeOnce<Agent>(
    {
      parts: ['agent', { ...body, llm_keys: wanted['llm_keys'] }],
      make: (idempotencyKey) => lodge.agents.create(body, { ...call, idempotencyKey, query: { wait: false } }),
      isThere: ({ id }) => isThere(() => lodge.agents.get(id, call)),
      async again() {
        for await (const agent of lodge.agents.list({ name: body.name, limit: 100 }, call))
          if (agent.name === body.name) return agent;
        return null;
      },
    },
    call.signal,
  );
}

type Keys = Readonly<Record<string, Secret | null>>;
const keysBody = (keys: Keys): object[] =>
  Object.entries(keys).map(([provider, key]) => ({ provider, api_key: key === null ? null : revealed(key) }));

/** The step that changes settings of an agent; undefined when they are as the file says. */
export function updateStep(wanted: WantedAgent, agent: Agent, isPruned: boolean): Step | undefined {
  const values = wantedValues(wanted);
  const present = presentValues(agent);
  const changes = [...differences(values, present), ...(isPruned ? surplus(values, present) : [])];
  if (changes.length === 0) return undefined;
  return {
    action: 'update',
    what: '',
    changes,
    async do({ lodge, call }, id) {
      await lodge.agents.update(id, updateBody(values, changes), call);
    },
  };
}

/** Returns pairs that are there and not in the file. */
const surplus = (wanted: Values, present: Values): FieldChange[] =>
  maps.flatMap((map) => {
    const some = wanted[map] as Values | undefined;
    if (some === undefined) return [];
    return Object.entries(present[map] as Values).flatMap(([key, value]) =>
      Object.hasOwn(some, key) ? [] : [{ field: `${map}.${key}`, from: value, to: null }],
    );
  });

function updateBody(wanted: Values, changes: readonly FieldChange[]): UpdateAgent {
  const body: Record<string, unknown> = {};
  for (const { field, to } of changes) {
    const [top, ...rest] = field.split('.');
    const inner = rest.join('.');
    const isPartial = inner !== '' && (maps.includes(top!) || top === 'lifecycle');
    if (!isPartial) body[top!] = wanted[top!];
    else
      body[top!] = { ...(body[top!] as object | undefined), [inner]: to === null ? null : pairOf(wanted, top!, inner) };
  }
  if (body['llm_keys'] !== undefined) body['llm_keys'] = keysBody(body['llm_keys'] as Keys);
  return body;
}

const pairOf = (wanted: Values, map: string, key: string): unknown => (wanted[map] as Values)[key];

/** The step that sets whom the agent may ask. Undefined when it is so, or when its creation does it. */
export function peersStep(wanted: WantedAgent, agent: Agent | undefined, peers: Peers): Step | undefined {
  if (wanted.peers === undefined) return undefined;
  const names = wanted.peers ?? [];
  const ids = names.map((name) => peers.idOf(name));
  const isKnown = ids.every((id) => id !== undefined);
  if (agent === undefined && isKnown) return undefined;
  const present = agent?.peers ?? [];
  if (isKnown && new Set(ids).size === new Set(present).size && ids.every((id) => present.includes(id)))
    return undefined;
  return {
    action: 'update',
    what: agent === undefined ? 'its peers' : '',
    changes: agent === undefined ? [] : [{ field: 'peers', from: present, to: names }],
    isLast: true,
    async do({ lodge, call, ids: made }, id) {
      const all = names.map((name) => peers.idOf(name) ?? made.get(name));
      const missing = names.filter((_, at) => all[at] === undefined);
      if (missing.length > 0) throw new Error(`These peers were not made: ${missing.join(', ')}.`);
      await lodge.agents.update(id, { peers: all as string[] }, call);
    },
  };
}
