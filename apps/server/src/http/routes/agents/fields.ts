/** Parts that create and PATCH share. */
import {
  Refusal,
  channelNamed,
  checkedSnapshotPlan,
  checkedEgress,
  checkedPackages,
  checkedVariables,
  confirmationLimits,
} from '@lodge/domain';
import { domainToASCII } from 'node:url';
import { maxInstructionBytes } from '@lodge/contract';
import type { ConfirmationRulesInput, EgressInput, PackagesInput, SnapshotPlanInput } from '@lodge/contract';
import type { Confirmations, EgressRules, Packages, SizeName, SnapshotPlan, Variables } from '@lodge/domain';
import type { FastifyRequest } from 'fastify';

/**
 * A preValidation hook: the contract's name has 1 to 100 characters after trimming, and the trimmed name is both checked and
 * stored.
 */
export async function trimName(request: FastifyRequest): Promise<void> {
  const body = request.body as { name?: unknown } | null | undefined;
  if (typeof body?.name === 'string') body.name = body.name.trim();
}

/** The size by either of its names; undefined when none was given. */
export function sizeOf<S extends SizeName | null>(body: { size?: S; machine_size?: S }): S | undefined {
  const { size = body.machine_size, machine_size = size } = body;
  if (machine_size === size) return size;
  throw new Refusal('invalid_request', 'size and machine_size are two names of one field, and they differ.');
}

/** Instructions in their stored form; white space alone is none. Undefined when none were given. */
export function instructionsOf(body: { readonly instructions?: string | null }): string | null | undefined {
  const { instructions } = body;
  if (instructions == null || instructions.trim() === '') return instructions === undefined ? undefined : null;
  if (Buffer.byteLength(instructions) <= maxInstructionBytes) return instructions;
  throw new Refusal('invalid_request', `instructions must have at most ${maxInstructionBytes} bytes of UTF-8.`);
}

/** Egress rules in their stored form. Refuses with the field's name. */
export function egressOf(given: EgressInput | null | undefined): EgressRules {
  const { allow = [], ...rest } = given ?? {};
  return checkedEgress({ ...rest, allow: allow.map(inAscii) });
}

/** The DNS form (IDNA) of a name in another script; a name without one stays unchanged, and is refused. */
function inAscii(entry: string): string {
  const [wildcard, name] = entry.startsWith('*.') ? ['*.', entry.slice(2)] : ['', entry];
  // A text that is no name would be parsed like a URL's host.
  if (!/^[\w.\u0080-\uffff-]+$/.test(name) || /^[\w.-]+$/.test(name)) return entry;
  const ascii = domainToASCII(name);
  return /[a-z]/.test(ascii) ? wildcard + ascii : entry;
}

/** Packages in their stored form. Refuses with the field's name. */
export const packagesOf = (given: PackagesInput | null | undefined): Packages => checkedPackages(given ?? {});

/** The plan for snapshots in its stored form. Refuses with the field's name. */
export const snapshotsOf = (given: SnapshotPlanInput | null | undefined): SnapshotPlan =>
  checkedSnapshotPlan(given ?? {});

/** Variables in their stored form. Refuses with the field's name. */
export const variablesOf = (given: Variables | null | undefined): Variables => checkedVariables(given ?? {});

/** Rules of confirmations in their stored form. */
export function confirmationsOf(given: ConfirmationRulesInput | null): Confirmations | null {
  if (given === null) return null;
  const { rules, deliver = [], deciders = [], expires = confirmationLimits.expires } = given;
  return {
    rules: rules.map(({ on, match = '*', policy }) => ({ on, match, policy })),
    default: given.default ?? 'allow',
    deliver: deliver.map(({ channel, conversation }) => ({ channel: channelNamed(channel)!, conversation })),
    deciders: [...new Set(deciders)],
    expires,
  };
}
