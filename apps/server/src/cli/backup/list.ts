/**
 * The list of a backup's contents; it is a file of the backup's last part. Its form is checked before any use: only a holder
 * of the master key can write one, but in other releases too. No name in it leads out of its folder.
 */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Check } from 'typebox/value';

/** Folder of copies during a backup, relative to the data folder. */
export const stagingName = 'backup-copies';
export const listFile = `${stagingName}/list.json`;
export const tableFile = (table: string): string => `${stagingName}/database/${table}`;

const agentId = '[a-z0-9][a-z0-9-]{0,31}';
const plainName = '^[a-z0-9][a-zA-Z0-9_.-]{0,63}$';
const text = Type.String({ maxLength: 4096 });
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const id = Type.Integer({ minimum: 0, maximum: 2 ** 32 - 2 });
const part = Type.Integer({ minimum: 1, maximum: 2 ** 31 });
const filesNamed = <Value extends ReturnType<typeof Type.Integer> | ReturnType<typeof Type.Object>>(
  pattern: string,
  value: Value,
) => Type.Record(Type.String({ pattern }), value, { additionalProperties: false });

/** The top of a disk, a layer beneath it, and the file that its memory lies over. */
const diskFile = '(disk\\.[a-z0-9]{1,16}|disk-[0-9a-f]{12}\\.qcow2|memory(\\.sums)?)';
/** Earlier releases kept stops in the folder of the VM. */
const vmFile = `(${diskFile}|snapshot/[a-z]{1,16})`;
const savedId = '[a-z0-9][a-z0-9-]{0,63}';
const savedFile = `(manifest|devices|listing|data|pages[a-z.]{0,16}|${diskFile})`;

const agentFile = Type.Object({
  bytes: count,
  /** The place in its part, relative to the data folder. */
  from: Type.String({
    pattern: `^(vms/${agentId}(\\.aside)?/${vmFile}|${stagingName}/${agentId}(\\.aside)?(\\.qcow2|/${diskFile}))$`,
  }),
});

const form = Type.Object({
  version: Type.Literal(2),
  at: text,
  release: text,
  instance: text,
  database: Type.Object({
    part,
    facts: Type.Object({
      version: Type.Literal(1),
      migrations: Type.Array(Type.Object({ name: text, checksum: text }), { minItems: 1, maxItems: 9_999 }),
      tables: Type.Array(Type.Object({ name: Type.String({ pattern: '^[a-z_][a-z0-9_]{0,62}$' }), rows: count })),
      sequences: Type.Array(
        Type.Object({ name: text, value: Type.String({ pattern: '^-?[0-9]{1,19}$' }), called: Type.Boolean() }),
      ),
    }),
    bytes: count,
  }),
  agents: Type.Array(
    Type.Object({
      agentId: Type.String({ pattern: `^${agentId}$` }),
      templateId: Type.String({ pattern: plainName }),
      /** Whether its machine ran: then it boots. */
      ran: Type.Boolean(),
      part,
      /** By their names in the folder of VMs. */
      files: filesNamed(`^${agentId}(\\.aside)?/${vmFile}$`, agentFile),
      record: Type.Object({ name: Type.String({ pattern: `^${agentId}(\\.aside)?/vm\\.json$` }), text: Type.String() }),
    }),
  ),
  /** Saved machines; absent from lists of older releases. */
  saved: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String({ pattern: `^${savedId}$` }),
        part,
        /** By their names in the machine's folder: bytes. */
        files: filesNamed(`^${savedFile}$`, count),
      }),
    ),
  ),
  templates: Type.Array(
    Type.Object({
      id: Type.String({ pattern: plainName }),
      part,
      folder: Type.Object({ mode: Type.Integer({ minimum: 0, maximum: 0o777 }), uid: id, gid: id }),
      /** By their names in the template's folder: bytes. */
      files: filesNamed(plainName, count),
    }),
  ),
  /** Explicit settings by variable, without secrets. */
  settings: Type.Record(Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,63}$' }), Type.String(), {
    additionalProperties: false,
  }),
});

export type BackupList = Static<typeof form>;
export type BackedUpAgent = BackupList['agents'][number];
export type BackedUpSaved = NonNullable<BackupList['saved']>[number];
export type BackedUpTemplate = BackupList['templates'][number];

export const hasForm = (list: unknown): list is BackupList => Check(form, list);

/** A file of a backup: its part, its place there, and where it belongs, both relative to the data folder. */
export interface ListedFile {
  readonly part: number;
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
}

export function filesOfAgent({ part: number, files }: BackedUpAgent): ListedFile[] {
  return Object.entries(files).map(([name, { from, bytes }]) => ({ part: number, from, to: `vms/${name}`, bytes }));
}

const filesOfSaved = ({ id: saved, part: number, files }: BackedUpSaved): ListedFile[] =>
  Object.entries(files).map(([name, bytes]) => {
    const path = `saved/${saved}/${name}`;
    return { part: number, from: `${stagingName}/${path}`, to: path, bytes };
  });

export function filesOfTemplate({ id: template, part: number, files }: BackedUpTemplate): ListedFile[] {
  return Object.entries(files).map(([name, bytes]) => {
    const path = `templates/${template}/${name}`;
    return { part: number, from: path, to: path, bytes };
  });
}

export const filesOf = (list: BackupList): ListedFile[] => [
  ...list.agents.flatMap(filesOfAgent),
  ...(list.saved ?? []).flatMap(filesOfSaved),
  ...list.templates.flatMap(filesOfTemplate),
];
