/**
 * Lists of an agent that are managed by name: what the file mentions is made and changed, and the rest is removed with
 * `--prune` alone. Each section says how its things are read, compared, made, changed and removed.
 */
import type { Lodge } from '@lodge/sdk';
import { asNew, differences, isMap } from './diff.ts';
import type { FieldChange } from './diff.ts';
import type { Acting, Step } from './step.ts';
import type { Values, WantedAgent } from './file/wanted.ts';
import { channelAliases } from '../words.ts';

/** A thing that is there. */
export interface Present {
  readonly name: string;
  /** How the API calls it in paths. */
  readonly key: string;
  /** In the file's words, with stored secrets in their places. */
  readonly values: Values;
}

export interface Section {
  readonly field: 'members' | 'skills' | 'schedules' | 'hooks' | 'ports' | 'channels' | 'connections';
  readonly noun: string;
  readonly yieldsSecret?: true;
  /** Runtimes that have such things; all by default. */
  readonly runtimes?: readonly string[];
  list(lodge: Lodge, agentId: string, call: Acting['call']): Promise<Present[]>;
  /** Brings what the file says into the form of `values`. */
  form(wanted: Values): Values;
  make(acting: Acting, agentId: string, name: string, wanted: Values): Promise<void>;
  /** Undefined: it is removed and made again. */
  readonly change?: (acting: Acting, agentId: string, change: SectionChange) => Promise<void>;
  remove(acting: Acting, agentId: string, key: string): Promise<void>;
  /** Maps of which the API replaces the whole: what the file does not mention of them is removed. */
  readonly wholes?: readonly string[];
  /** Refuses a replacement that would lose something. */
  refuse?(wanted: Values, present: Present): string | undefined;
  /** Says what somebody has to do by hand. */
  note?(name: string, wanted: Values, present: Present | undefined): string | undefined;
}

export interface SectionChange {
  readonly wanted: Values;
  readonly present: Present;
  readonly changes: readonly FieldChange[];
}

/** Things of a section that a file mentions, by name. Undefined: the file does not mention the section. */
export function mentioned(section: Section, agent: WantedAgent): Map<string, Values> | undefined {
  const value = agent[section.field] as unknown;
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    const pairs = Object.entries(value as Readonly<Record<string, Values>>);
    return new Map(
      pairs.map(([name, each]) => [
        Object.entries(channelAliases).find(([alias]) => alias === name)?.[1] ?? name,
        each,
      ]),
    );
  }
  return new Map(value.map((each: Values) => [String(each['name'] ?? each['port']).trim(), each]));
}

export interface Refused {
  readonly name: string;
  readonly message: string;
}

export interface SectionPlan {
  readonly steps: readonly Step[];
  readonly refused: readonly Refused[];
}

/** Plans one section of an agent. */
export function planSection(
  section: Section,
  wanted: ReadonlyMap<string, Values>,
  present: readonly Present[],
  isPruned: boolean,
): SectionPlan {
  const steps: Step[] = [];
  const refused: Refused[] = [];
  for (const [name, values] of wanted) {
    const found = present.filter((each) => each.name === name);
    if (found.length > 1)
      refused.push({ name, message: `there are ${found.length} with this name; remove all but one` });
    else if (found[0] === undefined) steps.push(makeStep(section, name, values));
    else {
      const made = changeStep(section, values, found[0]);
      if (typeof made === 'string') refused.push({ name, message: made });
      else if (made !== undefined) steps.push(made);
    }
  }
  if (isPruned) for (const each of present) if (!wanted.has(each.name)) steps.push(removeStep(section, each));
  return { steps, refused };
}

function makeStep(section: Section, name: string, values: Values): Step {
  const note = section.note?.(name, values, undefined);
  return {
    action: 'create',
    what: `${section.noun} ${name}`,
    changes: asNew(withoutName(section.form(values))),
    ...(note !== undefined && { note }),
    ...(section.yieldsSecret && { yieldsSecret: true }),
    do: (acting, agentId) => section.make(acting, agentId, name, values),
  };
}

function changeStep(section: Section, values: Values, present: Present): Step | string | undefined {
  const form = withoutName(section.form(values));
  const changes = [...differences(form, present.values), ...left(section, form, present.values)];
  if (changes.length === 0) return undefined;
  const { name, key } = present;
  const { change } = section;
  const note = section.note?.(name, values, present);
  const shared = { what: `${section.noun} ${name}`, changes, ...(note !== undefined && { note }) };
  if (change !== undefined)
    return {
      ...shared,
      action: 'update',
      do: (acting, agentId) => change(acting, agentId, { wanted: values, present, changes }),
    };
  const refusal = section.refuse?.(values, present);
  if (refusal !== undefined) return refusal;
  return {
    ...shared,
    action: 'replace',
    ...(section.yieldsSecret && { yieldsSecret: true }),
    async do(acting, agentId) {
      await section.remove(acting, agentId, key);
      await section.make(acting, agentId, name, { ...kept(present.values), ...values });
    },
  };
}

/** Returns entries of whole maps that are there and not in the file. */
const left = ({ wholes = [] }: Section, wanted: Values, present: Values): FieldChange[] =>
  wholes.flatMap((field) => {
    const [some, all] = [wanted[field], present[field]];
    if (!isMap(some) || !isMap(all)) return [];
    return Object.entries(all).flatMap(([name, value]) =>
      Object.hasOwn(some, name) ? [] : [{ field: `${field}.${name}`, from: value, to: null }],
    );
  });

/** Returns fields that a replacement keeps; a stored secret cannot be. */
const kept = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([field, value]) =>
        field !== 'signature' && value !== null && value !== undefined && !(isMap(value) && isEmpty(value)),
    ),
  );
const isEmpty = (values: Values): boolean => Object.keys(values).length === 0;

const removeStep = (section: Section, { name, key }: Present): Step => ({
  action: 'delete',
  what: `${section.noun} ${name}`,
  changes: [],
  do: (acting, agentId) => section.remove(acting, agentId, key),
});

const withoutName = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([field]) => field !== 'name' && field !== 'port'));
