import type { HookMessageEnd, SignatureEncoding, SignatureKind } from '@lodge/domain';
import type { Generated } from 'kysely';
import type { DeliverColumns } from '../channels/tables.ts';

/** Tables of inbound hooks. */
export interface HookTables {
  hooks: HooksTable;
  hook_messages: HookMessagesTable;
}

export interface HooksTable extends DeliverColumns {
  id: string;
  /** int8, which comes as text. */
  seq: Generated<string>;
  agent_id: string;
  account_id: string;
  name: string;
  token_hash: Uint8Array;
  last4: string;
  template: string | null;
  conversation: string | null;
  signature: SignatureKind | null;
  signature_header: string | null;
  signature_encoding: SignatureEncoding | null;
  signature_prefix: string | null;
  secret_sealed: string | null;
  secret_last4: string | null;
  created_at: Generated<Date>;
}

export interface HookMessagesTable {
  id: Generated<string>;
  seq: Generated<string>;
  hook_id: string;
  agent_id: string;
  account_id: string;
  delivery_id: string | null;
  event: string | null;
  text: string | null;
  is_cut: boolean;
  received_at: Generated<Date>;
  started_at: Date | null;
  ended_at: Date | null;
  status: HookMessageEnd | null;
  attempts: Generated<number>;
  reason: string | null;
}
