import { Type } from 'typebox';
import type { Static } from 'typebox';
import { ChatQuery } from '../agents/agent-requests.ts';
import { unless, withRules } from '../rules.ts';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns } from '../text.ts';

export const maxFileBytes = 64 * 1024 * 1024;
export const defaultFileLimit = 100;

const fileFields = {
  path: Type.String({ description: "Within the agent's workspace.", examples: ['notes/today.md'] }),
  name: Type.String({ examples: ['today.md'] }),
  type: oneOf(['file', 'directory', 'symlink', 'other'], {
    description: '`symlink`: a link, shown as such in a list; reading and writing follow it within the workspace.',
  }),
  size: Type.Integer({ minimum: 0, description: 'Bytes.' }),
  mode: Type.String({ description: 'Permissions in octal.', examples: ['0644'] }),
  modified_at: Timestamp,
  etag: Type.String({ description: 'As in the header ETag: another one whenever the contents may be others.' }),
};

/** The entry at a path of an agent's workspace. */
export const AgentFile = Type.Object(
  {
    object: Type.Literal('file'),
    ...fileFields,
    target: nullable(Type.String({ description: 'Where a link points; null for anything else.' })),
  },
  { title: 'File', additionalProperties: false },
);
export type AgentFile = Static<typeof AgentFile>;

export const FileList = listOf(AgentFile, 'FileList');

export const FileDeleted = Type.Object(
  { object: Type.Literal('file.deleted'), path: fileFields.path, deleted: Type.Literal(true) },
  { title: 'FileDeleted', additionalProperties: false },
);

/** A path has any number of segments, which OpenAPI cannot express. */
export const FileParams = Type.Object({
  id: Type.String({ pattern: patterns.agentId, description: "The agent's id.", examples: ['k7d2m9q4x1ab'] }),
  path: Type.String({
    description: 'Path in the workspace, with its slashes as they are or encoded; no `.` and `..`.',
    examples: ['notes/today.md'],
  }),
});

const flag = (description: string) => Type.Optional(oneOf(['1', 'true', '0', 'false'], { description }));
/** Whether a flag of a query is set. */
export const isSet = (flag: string | undefined): boolean => flag === '1' || flag === 'true';

const { wake } = ChatQuery.properties;

export const ReadFileQuery = withRules(
  Type.Object(
    {
      list: flag('`1`: what is in the folder, by name, instead of the bytes of a file.'),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          default: defaultFileLimit,
          description: 'Entries per page of a list.',
        }),
      ),
      cursor: pageCursor('; it holds for this agent and folder', 4096),
      wake,
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
export type ReadFileQuery = Static<typeof ReadFileQuery>;

export const WriteFileQuery = Type.Object(
  { directory: flag('`1`: makes a folder, with its parents; there is no body then.'), wake },
  { additionalProperties: false },
);
export type WriteFileQuery = Static<typeof WriteFileQuery>;

export const DeleteFileQuery = Type.Object(
  { recursive: flag('`true`: a folder goes with all that is in it. Without it only an empty one does.'), wake },
  { additionalProperties: false },
);
export type DeleteFileQuery = Static<typeof DeleteFileQuery>;

const header = (description: string) => Type.Optional(Type.String({ maxLength: 1000, description }));
const ifMatch = header('ETags of which one must be there, or `*` for anything; else 412.');

export const ReadFileHeaders = Type.Object({
  range: header('One range of bytes, answered with 206. Several are answered with the whole file.'),
  'if-range': header('The range holds for this ETag; of another version the whole comes.'),
  'if-none-match': header('ETags of which none may be there; else 304.'),
  'if-match': ifMatch,
});

export const WriteFileHeaders = Type.Object({
  'if-match': ifMatch,
  'if-none-match': header('`*`: nothing may be there; else 412.'),
});

export const DeleteFileHeaders = Type.Object({ 'if-match': ifMatch });
