import type { StoredResource } from '../database/stored-resource.ts';

export const snapshotTables = {
  topics: ['snapshot_gone'],
  sealed: [],
  columns: {
    'snapshots.error_code': 'domain.SnapshotErrorCode',
    'snapshots.kind': 'domain.SnapshotKind',
    'snapshots.loads': 'domain.SnapshotLoads',
    'snapshots.runtime_kind': 'domain.RuntimeKind',
    'snapshots.size': 'domain.SizeName',
    'snapshots.status': 'domain.SnapshotStatus',
  },
} as const satisfies StoredResource;
