#!/usr/bin/env node
/** The command `lodge`. Its version is printed before anything else is loaded. */
import * as nodeModule from 'node:module';
import { version } from './version.ts';

// Node 22 and later keep what they compiled, which shortens the next start.
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: () => unknown };
enableCompileCache?.();

const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) process.stdout.write(`${version}\n`);
else {
  const { main } = await import('./entry.ts');
  await main(args);
}
