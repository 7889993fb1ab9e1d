import type { SizeName } from './agents/capacity.ts';
import { Refusal } from './refusal.ts';

/** The abilities that differ between agent runtimes, as far as code outside `packages/runtimes` has to know them. */
export interface RuntimeAbilities {
  /** The software's name. Input may use it for the kind, and the addresses of its agents usually begin with it. */
  readonly name: string;
  /** The same as people write it. */
  readonly title: string;
  /** Whether further agents may be in the same machine. */
  readonly hasMembers: boolean;
  /** The guest's TCP port of the runtime's own web pages, or null. */
  readonly dashboardPort: number | null;
  /** Whether a model's name is bare, with the provider of the agent's keys, instead of `<provider>/<model_name>`. */
  readonly hasBareModels: boolean;
  /** The smallest machine with room for a browser beside the runtime. */
  readonly browserFrom: SizeName;
  /** The first configuration, as in the variant of a template, whose machines look for skills of their owners. */
  readonly skillsSince: number;
}

/** Runtime kinds by their name on the wire. */
export const runtimeAbilities = {
  runtime_a: {
    name: 'openclaw',
    title: 'OpenClaw',
    hasMembers: true,
    dashboardPort: null,
    hasBareModels: false,
    browserFrom: 'medium',
    skillsSince: 6,
  },
  runtime_b: {
    name: 'hermes',
    title: 'Hermes',
    hasMembers: false,
    dashboardPort: 9119,
    hasBareModels: true,
    browserFrom: 'small',
    skillsSince: 4,
  },
} as const satisfies Readonly<Record<string, RuntimeAbilities>>;

export type RuntimeKind = keyof typeof runtimeAbilities;
export const runtimeKinds = Object.keys(runtimeAbilities) as readonly RuntimeKind[];
export const defaultRuntimeKind: RuntimeKind = 'runtime_a';

export const abilitiesOf = (kind: RuntimeKind): RuntimeAbilities => runtimeAbilities[kind];

export const ofEachRuntime = <T>(read: (kind: RuntimeKind) => T): Readonly<Record<RuntimeKind, T>> =>
  Object.fromEntries(runtimeKinds.map((kind) => [kind, read(kind)])) as Record<RuntimeKind, T>;

/** Returns the kinds with an ability, for sentences: `runtime_b`, or `runtime_b and runtime_c`. */
const kindsThat = (can: (abilities: RuntimeAbilities) => boolean): string =>
  runtimeKinds.filter((kind) => can(abilitiesOf(kind))).join(' and ');

/** Kinds by what they can do, for sentences. */
export const kindsWith = {
  members: kindsThat(({ hasMembers }) => hasMembers),
  dashboard: kindsThat(({ dashboardPort }) => dashboardPort !== null),
  bareModels: kindsThat(({ hasBareModels }) => hasBareModels),
  prefixedModels: kindsThat(({ hasBareModels }) => !hasBareModels),
} as const;

/** Kinds by every name that input may use. Output never has the software's name as the kind. */
export const runtimeKindAliases: Readonly<Record<string, RuntimeKind>> = Object.fromEntries(
  runtimeKinds.flatMap((kind) => [
    [kind, kind],
    [abilitiesOf(kind).name, kind],
  ]),
);
export const runtimeKindNames = [...runtimeKinds, ...runtimeKinds.map((kind) => abilitiesOf(kind).name)];

/**
 * Whether machines of a template with this variant look for skills of their owners. Templates of before variants were kept do
 * not; a variant that counts no configurations is of a runtime for tests.
 */
export function looksForSkills(kind: RuntimeKind, variant: string | undefined): boolean {
  if (variant === undefined) return false;
  const [, configuration] = /-config-(\d{1,6})(?:-|$)/.exec(variant) ?? [];
  return configuration === undefined || Number(configuration) >= abilitiesOf(kind).skillsSince;
}

/** Refuses when the runtime holds a single agent. */
export function checkHasMembers(kind: RuntimeKind): void {
  if (abilitiesOf(kind).hasMembers) return;
  throw new Refusal('invalid_request', `This agent's runtime (${kind}) holds a single agent: it has no members.`);
}

/** Refuses when the runtime has no web pages of its own. */
export function checkHasDashboard(kind: RuntimeKind): void {
  if (abilitiesOf(kind).dashboardPort !== null) return;
  throw new Refusal('invalid_request', `dashboard can be true for ${kindsWith.dashboard} only.`);
}
