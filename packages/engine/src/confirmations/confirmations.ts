/** Confirmations, as their owners see them. Each use-case refuses with `confirmation_not_found` where the account has none. */
import type { ConfirmationStatus } from '@lodge/domain';
import { confirmationShownContext, confirmationWordsContext } from '@lodge/ports';
import type { ActorNote, SecretBox } from '@lodge/ports';
import { confirmationsOf, findConfirmation } from '@lodge/store/confirmations';
import type { ConfirmationRow } from '@lodge/store/confirmations';
import type { Database } from '@lodge/store/database';
import { defaultConfirmationBounds } from './bounds.ts';
import { decide, noConfirmation } from './decide.ts';
import type { DecisionInput } from './decide.ts';
import type { Shown } from './shown.ts';

export interface ConfirmationsDeps {
  readonly database: Database;
  readonly secrets: SecretBox;
}

/** A confirmation with its words. */
export interface ShownConfirmation extends ConfirmationRow {
  readonly shown: Shown;
  /** The owner's reason, or the answer to a question; null without. */
  readonly words: string | null;
}

export interface ConfirmationPage {
  readonly status?: ConfirmationStatus;
  readonly agentId?: string;
  readonly before?: string;
  readonly limit: number;
}

export type Confirmations = ReturnType<typeof createConfirmations>;

export function createConfirmations({ database, secrets }: ConfirmationsDeps) {
  const shown = (row: ConfirmationRow): ShownConfirmation => ({
    ...row,
    shown: JSON.parse(secrets.open(row.shownSealed, confirmationShownContext(row.id))) as Shown,
    words: row.wordsSealed && secrets.open(row.wordsSealed, confirmationWordsContext(row.id)),
  });
  return {
    /** Newest first. */
    list: async (accountId: string, page: ConfirmationPage): Promise<readonly ShownConfirmation[]> =>
      (await database.repeatable((db) => confirmationsOf(db, { ...page, accountId }))).map(shown),
    async get(accountId: string, id: string): Promise<ShownConfirmation> {
      const row = await database.repeatable((db) => findConfirmation(db, id));
      if (row?.accountId !== accountId) throw noConfirmation();
      return shown(row);
    },
    /** Decides. Refuses with `confirmation_closed`, or with `invalid_request` and the field. */
    async decide(accountId: string, id: string, input: DecisionInput, note?: ActorNote): Promise<ShownConfirmation> {
      const { graceMs } = defaultConfirmationBounds;
      const place = { accountId, id };
      return shown(await database.transaction((trx) => decide({ secrets, graceMs }, trx, place, input, note)));
    },
  };
}
