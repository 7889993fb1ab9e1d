/** Versions of skills, and the contents of their files. */
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { SkillVersions } from '../database/tables.ts';

export type SkillVersionRow = Selectable<SkillVersions>;

/** A backup holds the text of 200 rows at once, which is twice as long as the bytes. */
const pieceBytes = 64 * 1024;
const batchPieces = 32;

/** Returns versions below `before`, newest first. */
export const skillVersionsOf = (
  db: Queries,
  skillId: string,
  { before, limit }: { readonly before?: number; readonly limit: number },
): Promise<readonly SkillVersionRow[]> =>
  db
    .selectFrom('skillVersions')
    .selectAll()
    .where('skillId', '=', skillId)
    .$if(before !== undefined, (query) => query.where('version', '<', before!))
    .orderBy('version', 'desc')
    .limit(limit)
    .execute();

export const findSkillVersion = (db: Queries, skillId: string, version: number): Promise<SkillVersionRow | undefined> =>
  db
    .selectFrom('skillVersions')
    .selectAll()
    .where('skillId', '=', skillId)
    .where('version', '=', version)
    .executeTakeFirst();

/** Writes a version with its files' contents, in the order of its list. */
export async function insertSkillVersion(
  trx: Transaction,
  version: Insertable<SkillVersions>,
  contents: readonly Uint8Array[],
): Promise<void> {
  await trx.insertInto('skillVersions').values(version).execute();
  const pieces = contents.flatMap((content, file) =>
    Array.from({ length: Math.ceil(content.length / pieceBytes) }, (_, piece) => ({
      versionId: version.id,
      file,
      piece,
      content: content.subarray(piece * pieceBytes, (piece + 1) * pieceBytes),
    })),
  );
  for (let at = 0; at < pieces.length; at += batchPieces) {
    await trx
      .insertInto('skillPieces')
      .values(pieces.slice(at, at + batchPieces))
      .execute();
  }
}

/** A file of a version with its contents. */
export interface SkillContent {
  readonly path: string;
  readonly executable: boolean;
  readonly content: Buffer;
}

/** All files of a version. Empty when the version is gone. */
export async function skillContents(db: Queries, versionId: string): Promise<readonly SkillContent[]> {
  const version = await db.selectFrom('skillVersions').select('files').where('id', '=', versionId).executeTakeFirst();
  const pieces = await db
    .selectFrom('skillPieces')
    .select(['file', 'content'])
    .where('versionId', '=', versionId)
    .orderBy('file')
    .orderBy('piece')
    .execute();
  const files = Map.groupBy(pieces, ({ file }) => file);
  return (version?.files ?? []).map(({ path, executable }, index) => ({
    path,
    executable,
    content: Buffer.concat((files.get(index) ?? []).map(({ content }) => content)),
  }));
}

/** The contents of a file by its place in the version's list. An empty file has no piece. */
export async function skillFileContent(db: Queries, versionId: string, file: number): Promise<Buffer> {
  const { content } = await db
    .selectFrom('skillPieces')
    .select(sql<Buffer>`coalesce(string_agg(content, ''::bytea order by piece), ''::bytea)`.as('content'))
    .where('versionId', '=', versionId)
    .where('file', '=', file)
    .executeTakeFirstOrThrow();
  return content;
}
