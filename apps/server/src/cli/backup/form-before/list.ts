/** The list of a backup of the form before. No name in it leads out of the folder that it is put into. */
import { BackupError } from '@lodge/backup';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Check } from 'typebox/value';
import { chunkBytes } from './repository.ts';

const agentId = '[a-z0-9][a-z0-9-]{0,31}';
const plainName = '^[a-z0-9][a-zA-Z0-9_.-]{0,63}$';
const text = Type.String({ maxLength: 4096 });
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const id = Type.Integer({ minimum: 0, maximum: 2 ** 32 - 2 });
const mode = Type.Integer({ minimum: 0, maximum: 0o777 });
const chunks = Type.Array(
  Type.Union([Type.String({ pattern: '^[0-9a-f]{40}$' }), Type.Integer({ minimum: 1, maximum: 2 ** 31 })]),
);
const stored = Type.Object({
  mode,
  uid: id,
  gid: id,
  bytes: count,
  mtimeNs: Type.String({ pattern: '^[0-9]{1,20}$' }),
  mark: text,
  chunks,
});
const filesNamed = (pattern: string) => Type.Record(Type.String({ pattern }), stored, { additionalProperties: false });
const agentFile = `^${agentId}(\\.aside)?/(disk\\.[a-z0-9]{1,16}|snapshot/[a-z]{1,16})$`;

const form = Type.Object({
  version: Type.Literal(1),
  at: text,
  release: text,
  instance: text,
  database: Type.Object({
    facts: Type.Object({
      version: Type.Literal(1),
      migrations: Type.Array(Type.Object({ name: text, checksum: text }), { minItems: 1, maxItems: 9_999 }),
      tables: Type.Array(Type.Object({ name: text, rows: count })),
      sequences: Type.Array(
        Type.Object({ name: text, value: Type.String({ pattern: '^-?[0-9]{1,19}$' }), called: Type.Boolean() }),
      ),
    }),
    tables: Type.Record(Type.String(), chunks),
  }),
  agents: Type.Array(
    Type.Object({
      agentId: Type.String({ pattern: `^${agentId}$` }),
      templateId: Type.String({ pattern: plainName }),
      ran: Type.Boolean(),
      files: filesNamed(agentFile),
      record: Type.Object({ name: Type.String({ pattern: `^${agentId}(\\.aside)?/vm\\.json$` }), text: Type.String() }),
    }),
  ),
  templates: Type.Array(
    Type.Object({
      id: Type.String({ pattern: plainName }),
      folder: Type.Object({ mode, uid: id, gid: id }),
      files: filesNamed(plainName),
    }),
  ),
  settings: Type.Record(Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,63}$' }), Type.String(), {
    additionalProperties: false,
  }),
});

export type ListBefore = Static<typeof form>;
export type StoredFile = Static<typeof stored>;
/** In order: names of chunks, and for holes the number of chunks of zeros. All are of the same size but the last. */
export type ChunkList = Static<typeof chunks>;

export const hasForm = (list: unknown): list is ListBefore => Check(form, list);

export function* chunksOf(list: ListBefore): Iterable<string> {
  const lists = [
    ...Object.values(list.database.tables),
    ...[...filesOf(list)].map(({ stored: { chunks: all } }) => all),
  ];
  for (const each of lists) for (const item of each) if (typeof item === 'string') yield item;
}

/** By name, relative to the data folder. */
export function* filesOf(list: ListBefore): Iterable<{ readonly name: string; readonly stored: StoredFile }> {
  for (const { files } of list.agents) {
    for (const [name, each] of Object.entries(files)) yield { name: `vms/${name}`, stored: each };
  }
  for (const { id: template, files } of list.templates) {
    for (const [name, each] of Object.entries(files)) yield { name: `templates/${template}/${name}`, stored: each };
  }
}

/** Throws `BackupError` where a file's size is not that of its chunks. */
export function assertFits(list: ListBefore, backup: string): void {
  for (const { name, stored: each } of filesOf(list)) {
    const count = each.chunks.reduce<number>((sum, item) => sum + (typeof item === 'string' ? 1 : item), 0);
    if (count === Math.ceil(each.bytes / chunkBytes)) continue;
    throw new BackupError(`The backup ${backup} is damaged: ${name} has another size than its pieces.`);
  }
}
