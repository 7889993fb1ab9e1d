/** Settings of the memory that agents share with the host. */
import { integer, required } from '@lodge/ports/settings';
import { decimal, oneOf } from './values.ts';

export const memorySettings = {
  memoryReservedMib: required(
    'LODGE_MEMORY_RESERVED_MIB',
    'MiB, 0..1048576',
    '1024',
    'Memory of the host that agents are never promised.',
    integer(0, 1_048_576),
  ),
  memoryOvercommit: required(
    'LODGE_MEMORY_OVERCOMMIT',
    'number, 1..16',
    '3',
    "MiB promised to agents for each MiB there is: an idle agent takes about a quarter of its size, for clones share their template's pages.",
    decimal(1, 16),
  ),
  unboundMemory: required(
    'LODGE_UNBOUND_MEMORY',
    '`refuse` or `allow`',
    'refuse',
    'The reaction to a kernel without a memory controller, on which an agent can take more memory than its size: not start, or start all the same.',
    oneOf('refuse', 'allow'),
  ),
  pageOutAfterMinutes: required(
    'LODGE_PAGE_OUT_AFTER_MINUTES',
    'minutes, 0..10080',
    '10',
    'Length of a pause after which an agent’s memory goes to the swap of the host, where it has any; 0: never.',
    integer(0, 10_080),
  ),
  zramMib: required(
    'LODGE_ZRAM_MIB',
    'MiB, 0..1048576',
    '0',
    'Size of a swap in compressed memory (zram) that a start sets up on a host without swap; 0 sets up none. It stays until the next boot.',
    integer(0, 1_048_576),
  ),
} as const;
