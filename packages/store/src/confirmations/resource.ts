import {
  confirmationCallContext,
  confirmationResultContext,
  confirmationShownContext,
  confirmationWordsContext,
} from '@lodge/ports';
import type { StoredResource } from '../database/stored-resource.ts';

export const confirmationTables = {
  topics: ['confirmation_changed'],
  sealed: [
    { table: 'confirmations', column: 'shown_sealed', key: ['id'], context: confirmationShownContext },
    { table: 'confirmations', column: 'call_sealed', key: ['id'], context: confirmationCallContext },
    { table: 'confirmations', column: 'words_sealed', key: ['id'], context: confirmationWordsContext },
    { table: 'confirmations', column: 'result_sealed', key: ['id'], context: confirmationResultContext },
  ],
  columns: {
    'confirmation_messages.channel': 'domain.ChannelName',
    'confirmations.decision': 'domain.ConfirmationDecision',
    'confirmations.kind': 'domain.ConfirmationKind',
    'confirmations.remember': 'domain.ConfirmationMemory',
    'confirmations.status': 'domain.ConfirmationStatus',
  },
} as const satisfies StoredResource;
