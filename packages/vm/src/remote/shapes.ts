/** The values of a control plane's message, which counts as hostile: each shape returns the value, or refuses it by name. */
import { posix } from 'node:path';
import { checkedEgress, egressModes, longestEgressEntry, mostEgressEntries, Refusal } from '@lodge/domain';
import type { EgressRules } from '@lodge/domain';
import {
  boolean,
  integer,
  listOf,
  matching,
  object,
  oneOf,
  record,
  ShapeError,
  such,
  text,
} from '@lodge/domain/shapes';
import type { Shape } from '@lodge/domain/shapes';
import type { CarriedData, Machine, RuntimeFacts, VmRequest } from '@lodge/ports';

export const executionId = matching(/^[a-z0-9][a-z0-9-]{0,63}$/, 'the id of an execution');
export const savedId = matching(/^[a-z0-9][a-z0-9-]{0,63}$/, 'the id of a saved machine');
/** A name below the folder of templates, without a path. */
export const templateId = matching(/^[A-Za-z0-9][\w-]{0,127}$/, 'the id of a template');
export const imageId = matching(/^[A-Za-z0-9][\w-]{0,127}$/, 'the id of an image');
/** A folder of recipes. */
export const runtimeName = matching(/^[a-z][a-z0-9-]{0,31}$/, 'the name of a runtime');
/** The name of the runtime itself, or of an installed version of it. */
export const imageName = matching(/^[a-z][a-z0-9-]{0,31}(?:@[0-9][0-9A-Za-z.+-]{0,63})?$/, 'the name of an image');
export const variant = matching(/^[\w.-]{1,200}$/, 'the name of a variant');
export const ipv4 = matching(/^\d{1,3}(?:\.\d{1,3}){3}$/, 'an IPv4 address');

export const machine: Shape<Machine> = record({
  vcpus: integer(1, 256),
  memoryMib: integer(1, 2 ** 22),
  diskGib: integer(1, 2 ** 16),
});

/** JSON that is written to a file and returned: its bytes are the message's. */
export const facts: Shape<RuntimeFacts> = object;

/** Rules by their one parser; it returns rules that it made before unchanged. */
export const egress: Shape<EgressRules> = (value, name) => {
  const { mode, allow } = egressFields(value, name);
  try {
    return checkedEgress({ mode, allow });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new ShapeError(`${name} has an entry that is no name and no public block`);
  }
};
const egressFields = record({
  mode: oneOf(...egressModes),
  allow: listOf(text(longestEgressEntry), mostEgressEntries),
});

/** Longest path in a guest. */
const maxPath = 4096;

/** A path in the guest, from its root, that says where it leads. */
const guestFolder = such(
  (value): value is string =>
    typeof value === 'string' &&
    value.length <= maxPath &&
    value.startsWith('/') &&
    !value.includes('\0') &&
    posix.normalize(value) === value,
  'an absolute path in the guest, without . and ..',
);

/** Where a VM's disk and memory come from. */
export const from: Shape<VmRequest['from']> = (value, name) =>
  typeof value === 'string'
    ? oneOf('clone', 'boot')(value, name)
    : record({ saved: savedId, memory: boolean })(value, name);

export const listedFolder = guestFolder;

export const carriedData: Shape<CarriedData> = record({
  folders: listOf(guestFolder, 64),
  except: listOf(guestFolder, 64),
});
