/** Settings of the beginnings of agents' addresses, one for each runtime. */
import { abilitiesOf, ofEachRuntime, runtimeKinds } from '@lodge/domain';
import type { RuntimeKind } from '@lodge/domain';
import { required } from '@lodge/ports/settings';
import { urlPrefix } from './values.ts';

export const runtimePrefixes = ofEachRuntime((kind) =>
  required(
    `LODGE_PREFIX_${kind.toUpperCase()}`,
    'part of a DNS label',
    abilitiesOf(kind).name,
    `The beginning of an agent's address for ${kind}.`,
    urlPrefix,
  ),
);

/** By its beginning an address tells the runtime. */
export function prefixDisagreements(prefixes: Readonly<Record<RuntimeKind, string>>): readonly string[] {
  const alike = runtimeKinds.filter((kind) =>
    runtimeKinds.some((other) => other !== kind && prefixes[other] === prefixes[kind]),
  );
  if (alike.length === 0) return [];
  return [`${alike.map((kind) => runtimePrefixes[kind].name).join(' and ')} must differ`];
}
