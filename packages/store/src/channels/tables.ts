import type { ChannelAccess, ChannelIdentity, ChannelName, ChannelReasonCode, ChannelStatus } from '@lodge/domain';
import type { ConversationKind, Json, MessageState } from '@lodge/domain';
import type { WaitingFile } from '@lodge/ports';
import type { ColumnType, Generated } from 'kysely';

/** Tables of messaging channels. */
export interface ChannelTables {
  channels: ChannelsTable;
  channel_credentials: Place & { name: string; sealed: string; last4: string; created_at: Generated<Date> };
  channel_vault: Place & { type: string; id: string; sealed: string };
  channel_senders: SendersTable;
  channel_conversations: ConversationsTable;
  channel_answers: AnswersTable;
  channel_parts: PartsTable;
  channel_messages: MessagesTable;
  channel_seen: Place & { platform_id: string; at: Generated<Date> };
  channel_files: FilesTable;
}

/** JSON that is written as text. */
type AsJson<Value> = ColumnType<Value, string, string>;

interface Place {
  agent_id: string;
  channel: ChannelName;
}

export interface ChannelsTable extends Place {
  account_id: string;
  enabled: boolean;
  access: AsJson<ChannelAccess>;
  revision: Generated<number>;
  account_key: string | null;
  status: Exclude<ChannelStatus, 'not_configured'>;
  status_code: ChannelReasonCode | null;
  status_message: string | null;
  status_at: Date | null;
  note: string | null;
  identity: ColumnType<ChannelIdentity | null, string | null, string | null>;
  pairing_sealed: string | null;
  pairing_expires_at: Date | null;
  pairing_attempt: number | null;
  cursor: ColumnType<Json | null, string | null, string | null>;
  lease_holder: string | null;
  lease_number: Generated<number>;
  lease_until: Date | null;
  lease_revision: number | null;
  not_before: Date | null;
  faults: Generated<number>;
  pruned_at: Date | null;
  last_inbound_at: Date | null;
  last_outbound_at: Date | null;
  /** int8, which comes as text. */
  refused_count: Generated<string>;
  /** Counts of the values that its connection stores. */
  vault_values: Generated<number>;
  vault_bytes: Generated<string>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface SendersTable extends Place {
  sender_id: string;
  name: string;
  state: 'pending' | 'approved' | 'denied';
  code: string | null;
  asked_at: Generated<Date>;
  decided_at: Date | null;
  decided_code: string | null;
  refused_count: Generated<string>;
}

interface ConversationsTable extends Place {
  id: Generated<string>;
  account_id: string;
  conversation_id: string;
  kind: ConversationKind;
  title: string | null;
  session: Generated<number>;
  reply_to: ColumnType<Json | null, string | null, string | null>;
  waiting_since: Date | null;
  not_before: Date | null;
  claim: Generated<number>;
  claim_holder: string | null;
  claim_until: Date | null;
  said: string | null;
  progress_id: string | null;
  progress_claim: number | null;
  last_at: Generated<Date>;
  /** The last sender who was admitted, or null. */
  sender_id: string | null;
}

interface AnswersTable {
  id: Generated<string>;
  seq: Generated<string>;
  conversation: string;
  reply_to: ColumnType<Json | null, string | null, string | null>;
  text: string;
  state: Generated<'queued' | 'sent' | 'failed' | 'unknown'>;
  created_at: Generated<Date>;
  ended_at: Date | null;
}

interface PartsTable extends Place {
  id: Generated<string>;
  answer_id: string;
  conversation: string;
  seq: string;
  position: number;
  kind: 'markdown' | 'text' | 'file';
  text: string | null;
  format: string | null;
  file_name: string | null;
  media_type: string | null;
  /** int8, which comes as text. */
  bytes: ColumnType<string | null, number | null, never>;
  file_key: string | null;
  state: Generated<'waiting' | 'sending' | 'sent' | 'failed' | 'unknown' | 'dropped'>;
  sending_lease: number | null;
  sending_at: Date | null;
  unclear_since: Date | null;
  attempts: Generated<number>;
  due_at: Generated<Date>;
  reason: string | null;
  platform_id: string | null;
}

interface MessagesTable extends Place {
  id: Generated<string>;
  seq: Generated<string>;
  account_id: string;
  conversation: string;
  sender_id: string;
  sender_name: string;
  text: string;
  command: string | null;
  reply_to: ColumnType<Json | null, string | null, string | null>;
  state: MessageState;
  reason: string | null;
  sent_at: Date;
  received_at: Generated<Date>;
  answered_at: Date | null;
  attempts: Generated<number>;
  claim: number | null;
  answer_id: string | null;
}

interface FilesTable extends Place {
  id: Generated<string>;
  message_id: string;
  position: number;
  ref: string;
  name: string;
  media_type: string;
  kind: WaitingFile['kind'];
  /** int8, which comes as text. */
  bytes: ColumnType<string | null, number | null, number | null>;
  file_key: string | null;
  reason: string | null;
  attempts: Generated<number>;
  due_at: Generated<Date>;
}
