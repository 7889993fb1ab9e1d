import { Refusal } from './refusal.ts';

/** What an agent runtime can do that others cannot, as far as anybody outside `packages/runtimes` has to know. */
export interface RuntimeAbilities {
  /** The name of the software; another name of the kind on input, and the usual prefix of its agents' addresses. */
  readonly name: string;
  /** Further agents in the same machine. */
  readonly hasMembers: boolean;
  /** TCP port of the guest that the runtime's own web pages are served on; null where it has none. */
  readonly dashboardPort: number | null;
  /** Whether a model is named bare, its provider being that of the agent's keys, or as `<provider>/<model_name>`. */
  readonly hasBareModels: boolean;
}

/** Runtime kinds by their name on the wire. */
export const runtimeAbilities = {
  runtime_a: { name: 'openclaw', hasMembers: true, dashboardPort: null, hasBareModels: false },
  runtime_b: { name: 'hermes', hasMembers: false, dashboardPort: 9119, hasBareModels: true },
} as const satisfies Readonly<Record<string, RuntimeAbilities>>;

export type RuntimeKind = keyof typeof runtimeAbilities;
export const runtimeKinds = Object.keys(runtimeAbilities) as readonly RuntimeKind[];
export const defaultRuntimeKind: RuntimeKind = 'runtime_a';

export const abilitiesOf = (kind: RuntimeKind): RuntimeAbilities => runtimeAbilities[kind];

/** The kinds by what they can do, for sentences: `runtime_b`, or `runtime_b and runtime_c`. */
const kindsThat = (can: (abilities: RuntimeAbilities) => boolean): string =>
  runtimeKinds.filter((kind) => can(abilitiesOf(kind))).join(' and ');

/** Kinds by every name that is taken on input. The names of the software are never emitted as the kind. */
export const runtimeKindAliases: Readonly<Record<string, RuntimeKind>> = Object.fromEntries(
  runtimeKinds.flatMap((kind) => [
    [kind, kind],
    [abilitiesOf(kind).name, kind],
  ]),
);
export const runtimeKindNames = [...runtimeKinds, ...runtimeKinds.map((kind) => abilitiesOf(kind).name)];

/** Refuses where the runtime holds a single agent. */
export function checkHasMembers(kind: RuntimeKind): void {
  if (abilitiesOf(kind).hasMembers) return;
  throw new Refusal('invalid_request', `This agent's runtime (${kind}) holds a single agent: it has no members.`);
}

/** Refuses where the runtime has no web pages of its own. */
export function checkHasDashboard(kind: RuntimeKind): void {
  if (abilitiesOf(kind).dashboardPort !== null) return;
  const kinds = kindsThat(({ dashboardPort }) => dashboardPort !== null);
  throw new Refusal('invalid_request', `dashboard can be true for ${kinds} only.`);
}
