/** Settings of the disk that agents share with the database. */
import { defaultDisk } from '@lodge/domain';
import { integer, required } from '@lodge/ports/settings';
import { decimal } from './values.ts';

export const diskSettings = {
  diskReservedMib: required(
    'LODGE_DISK_RESERVED_MIB',
    'MiB, 0..1048576',
    String(defaultDisk.reservedMib),
    'Free space in `LODGE_DATA_DIR` that agents are never promised: what database and logs may still take.',
    integer(0, 1_048_576),
  ),
  diskOvercommit: required(
    'LODGE_DISK_OVERCOMMIT',
    'number, 1..64',
    String(defaultDisk.overcommit),
    'MiB that agents may still write for each MiB that is free: an agent uses about a thirtieth of its disk and memory.',
    decimal(1, 64),
  ),
  diskFloorMib: required(
    'LODGE_DISK_FLOOR_MIB',
    'MiB, 64..1048576',
    String(defaultDisk.floorMib),
    'Below so much free space in `LODGE_DATA_DIR` the agents that write most are paused, and none is created or started.',
    integer(64, 1_048_576),
  ),
} as const;
