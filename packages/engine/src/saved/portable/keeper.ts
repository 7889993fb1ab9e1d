import type { Log, PortableFiles } from '@lodge/ports';
import { waitingImports } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import { Rounds } from '../../periodic.ts';

export interface ImportKeeperDeps {
  readonly database: Database;
  readonly files: PortableFiles;
  readonly log: Log;
  readonly everyMs: number;
  /** A file that nobody has written to for so long, and that no row names, is of no request in progress. */
  readonly untouchedMs: number;
}

/** Removes files of imports for which no agent waits: it runs, it is gone, or it was never made. */
export class ImportKeeper extends Rounds {
  private readonly deps: ImportKeeperDeps;

  constructor(deps: ImportKeeperDeps) {
    super({ everyMs: deps.everyMs, log: deps.log, failed: 'files of imports not looked after; it will be repeated' });
    this.deps = deps;
  }

  protected async round(): Promise<void> {
    const { database, files, log, untouchedMs } = this.deps;
    const there = await files.list();
    if (there.length === 0) return;
    const waiting = await database.repeatable(waitingImports);
    const before = Date.now() - untouchedMs;
    for (const { id, at } of there) {
      if (waiting.has(id) || at.getTime() > before) continue;
      await files.drop(id);
      log.info({ import: id }, 'file of an import removed');
    }
  }
}
