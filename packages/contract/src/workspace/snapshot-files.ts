import { Type } from 'typebox';
import type { Static } from 'typebox';
import { unless, withRules } from '../rules.ts';
import { Timestamp, listOf, oneOf, pageCursor } from '../text.ts';
import { defaultFileLimit } from './files.ts';

const snapshot = Type.String({ description: "The snapshot's id.", examples: ['s4k8m2q9t1ab'] });
const path = Type.String({ description: 'Within the workspace.', examples: ['notes/today.md'] });
const truncated = Type.Boolean({
  description: 'Whether the workspace has more in it than was looked at, or more differs than is shown.',
});

/** The entry at a path of the workspace that a snapshot has. */
export const SnapshotFile = Type.Object(
  {
    object: Type.Literal('snapshot.file'),
    path,
    name: Type.String({ examples: ['today.md'] }),
    type: oneOf(['file', 'directory', 'symlink', 'other'], { description: '`symlink`: a link, shown as such.' }),
    size: Type.Integer({ minimum: 0, description: 'Bytes.' }),
    modified_at: Timestamp,
  },
  { title: 'SnapshotFile', additionalProperties: false },
);
export type SnapshotFile = Static<typeof SnapshotFile>;

export const SnapshotFileList = Type.Object(
  { ...listOf(SnapshotFile, 'SnapshotFileList').properties, truncated },
  { title: 'SnapshotFileList', additionalProperties: false },
);

export const SnapshotFileParams = Type.Object({
  snapshot,
  path: Type.String({
    description: 'Path in the workspace, with its slashes as they are or encoded; no `.` and `..`.',
    examples: ['notes/today.md'],
  }),
});

export const ReadSnapshotFileQuery = withRules(
  Type.Object(
    {
      list: Type.Optional(
        oneOf(['1', 'true', '0', 'false'], {
          description: '`1`: what is in the folder, by name, instead of the bytes of a file.',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          default: defaultFileLimit,
          description: 'Entries per page of a list.',
        }),
      ),
      cursor: pageCursor('; it holds for this snapshot and folder', 4096),
    },
    { additionalProperties: false },
  ),
  {
    description: 'goes with list=1',
    ...unless(
      { properties: { list: { enum: ['1', 'true'] } }, required: ['list'] },
      { properties: { limit: false, cursor: false } },
    ),
  },
);
export type ReadSnapshotFileQuery = Static<typeof ReadSnapshotFileQuery>;

export const DiffSnapshotQuery = Type.Object(
  {
    to: Type.Optional(
      Type.String({
        description: 'Another snapshot of the account, or `now`: the agent of the snapshot as it is, which must run.',
        default: 'now',
        examples: ['now'],
      }),
    ),
  },
  { additionalProperties: false },
);

export const SnapshotDiff = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object(
        {
          path,
          change: oneOf(['added', 'removed', 'changed'], {
            description: 'On the way from the snapshot to the other side. A folder does not change.',
          }),
          size: Type.Integer({ minimum: 0, description: 'Bytes after the change, or before it if it was removed.' }),
        },
        { title: 'FileChange', additionalProperties: false },
      ),
      { description: 'By path; at most 1,000.' },
    ),
    truncated,
  },
  { title: 'SnapshotDiff', additionalProperties: false },
);
