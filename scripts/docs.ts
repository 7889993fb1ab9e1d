// Writes the generated pages: docs/reference, what the SDKs have of it, and the database's schema from an embedded Postgres, which
// needs no root.
// With --check it only names those that are out of date, and fails if any is.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { migrate } from '@lodge/store';
import { emptyDatabase } from '@lodge/testkit/postgres';
import { configurationMarkdown } from '../apps/server/src/config/reference.ts';
import { openApiJson } from '../apps/server/src/http/openapi/document.ts';
import { schemaSql } from '../packages/store/src/database/schema-sql.ts';
import { agentsSchema } from './agents-schema.ts';
import { commandWords } from './sdk/command-words.ts';
import { pythonPages } from './sdk/python.ts';
import { typescriptTypes } from './sdk/typescript.ts';
import { tableTypes } from './table-types.ts';

const pages: Readonly<Record<string, string | (() => string | Promise<string>)>> = {
  'apps/cli/src/words.ts': commandWords,
  'docs/reference/agents.schema.json': async () => agentsSchema(await openApiJson()),
  'docs/reference/configuration.md': configurationMarkdown,
  'docs/reference/openapi.json': openApiJson,
  'packages/sdk/src/types.ts': async () => typescriptTypes(await openApiJson()),
  ...(await migratedPages()),
  ...(await pythonPages(await openApiJson())),
};

const checkOnly = process.argv.includes('--check');
for (const [path, make] of Object.entries(pages)) {
  const file = new URL(`../${path}`, import.meta.url);
  const wanted = typeof make === 'string' ? make : await make();
  const present = await readFile(file, 'utf8').catch(() => null);
  if (present === wanted) continue;
  if (checkOnly) {
    console.error(`${path} is out of date: node_modules/.bin/node scripts/docs.ts writes it`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(file.pathname), { recursive: true });
    await writeFile(file, wanted);
    console.log(`wrote ${path}`);
  }
}

async function migratedPages(): Promise<Record<string, string>> {
  const database = await emptyDatabase();
  try {
    await migrate(database);
    return {
      'packages/store/schema.sql': await schemaSql(database),
      'packages/store/src/database/tables.ts': await tableTypes(database.connectionString),
    };
  } finally {
    await database.drop();
  }
}
