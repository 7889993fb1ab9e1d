/* oxlint-disable max-lines */
/** Types of the API. `node scripts/docs.ts` writes this file from docs/reference/openapi.json. */

export interface Account {
  object: 'account';
  id: string;
  name: string;
  /** Whether what is said in model calls of its agents is kept for some days, for every key with the scope `usage:read`. False by default. */
  record_llm_calls: boolean;
  created_at: string;
  /** For its person signed in; an API key is not told. */
  email?: string | null;
  /** The same. */
  role?: 'owner' | 'member' | 'viewer';
  /** The same. */
  totp_enabled?: boolean;
}

export interface AccountLink {
  kind: 'owner' | 'invite' | 'reset';
  email: string | null;
  expires_at: string;
}

export interface AccountOptions {
  registration_open: boolean;
  api_base_url: string;
}

export interface AccountSpend {
  /** Model calls of all agents of the account, this day (UTC). */
  daily: {
    /** US dollars; null: no limit. */
    limit_usd: string | null;
    /** Calls that have ended and whose model has a known price. */
    spent_usd: string;
    resets_at: string;
  };
  /** Model calls of all agents of the account, this month (UTC). */
  monthly: {
    /** US dollars; null: no limit. */
    limit_usd: string | null;
    /** Calls that have ended and whose model has a known price. */
    spent_usd: string;
    resets_at: string;
  };
  /** `block`: once it is reached, model calls are refused until the window ends. `pause`: the agent is put to sleep as well, and no message wakes it before. */
  action: 'block' | 'pause' | null;
  spend_limit: SpendLimit | null;
}

export interface AddSkill {
  git?: {
    /** The address of the repository, by https. Private addresses are refused unless the operator allows them. */
    url: string;
    /** A branch, a tag or a whole commit; by default the repository's own branch. */
    ref?: string | undefined;
    /** The skill's folder; by default the repository itself. */
    path?: string | undefined;
  } | undefined;
  hub?: {
    name: 'clawhub' | 'skills.sh';
    /** ClawHub: `slug` or `owner/slug`. skills.sh: `owner/repository/skill`. */
    slug: string;
    /** By default the latest. skills.sh has the latest alone. */
    version?: string | undefined;
  } | undefined;
  /** Takes the skill in spite of findings of severity `high`. Look at them first. */
  accept_findings?: boolean | undefined;
}

export interface Agent {
  object: 'agent';
  id: string;
  name: string;
  description: string | null;
  /** Who the agent is and how it works. */
  instructions: string | null;
  /** Whether the machine has yet to take over instructions, members, dashboard, browser, egress, variables, skills or packages as they are now: within seconds while it runs, packages within minutes, else at its next start. */
  settings_pending: boolean;
  status: 'provisioning' | 'running' | 'paused' | 'stopped' | 'error';
  /** Why the agent is in its status; always set in `error`. */
  status_reason: {
    code: string;
    message: string;
    at: string;
  } | null;
  /** The change of the machine that is under way; null when none is. A snapshot changes nothing; going back to one counts as a restart. */
  transition: {
    kind: 'start' | 'resume' | 'pause' | 'stop' | 'restart' | 'upgrade';
    started_at: string;
  } | null;
  runtime_kind: 'runtime_a' | 'runtime_b';
  /** What runs in the VM, in the version that it has there; null when this deployment does not offer it. */
  runtime: {
    name: string;
    version: string;
  } | null;
  /** A newer image is ready than the one the agent was made from: `POST /v1/agents/:id/upgrade` moves it. */
  upgrade_available: boolean;
  model: string;
  /** The size asked for. */
  size: 'small' | 'medium' | 'large' | 'xlarge';
  machine: Machine;
  disk: Disk;
  url: string;
  dashboard_url: string | null;
  /** Whether it has a browser in its machine. */
  browser: boolean;
  llm_keys: {
    provider: string;
    /** The last four characters of the key. */
    last4: string;
    /** Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes it; null: the secret cannot be opened. */
    fingerprint: string | null;
    created_at: string;
  }[];
  channels: {
    channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail';
    status: 'not_configured' | 'pending_pairing' | 'connecting' | 'connected' | 'disconnected' | 'error' | 'disabled';
  }[];
  lifecycle: Lifecycle;
  spend_limit: SpendLimit | null;
  egress: Egress;
  /** Plain variables of the commands, terminals and tools in the agent’s machine, by name. */
  env: Record<string, string>;
  packages: Packages;
  /** Why the packages are not installed; null while nothing has failed. It is tried again. */
  packages_error: string | null;
  confirmations: ConfirmationRules | null;
  /** Models that it may call beside its own and its members'; null: any. */
  models: string[] | null;
  /** Ids of agents that it may ask with its tool `ask_agent`; `*` for all of the account. */
  peers: string[];
  snapshots: SnapshotPlan;
  forked_from: ForkedFrom | null;
  /** Up to 50 short pairs to select by: `label[team]=support` in a list. Notes of your own are `metadata`. */
  labels: Record<string, string>;
  /** Up to 50 pairs of strings: your own notes. What lists are to select by are `labels`. */
  metadata: Record<string, string>;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  paused_at: string | null;
  stopped_at: string | null;
  last_active_at: string | null;
}

export interface AgentChat {
  /** OpenAI's messages. With `user` set, only the new message is needed. */
  messages: readonly ChatMessage[];
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
  /** Options of an answer that streams. */
  stream_options?: {
    /** OpenAI's: a last chunk has the usage. */
    include_usage?: boolean | null | undefined;
    /** Further chunks, without choices, tell what tools the agent works with (`step`). */
    include_steps?: boolean | null | undefined;
    [name: string]: unknown;
  } | null | undefined;
  /** Names a conversation that the agent remembers. The header X-Conversation-Id does the same. */
  user?: string | null | undefined;
  /** `<agent id>/<member>` for a member; any other name means the agent that the path names. */
  model?: string | null | undefined;
  [name: string]: unknown;
}

export interface AgentList {
  object: 'list';
  data: Agent[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export interface AgentMember {
  object: 'member';
  agent_id: string;
  /** Lower case letters, digits and hyphens, 2 to 32, a letter first. */
  name: string;
  /** Null: the agent's own model. */
  model: string | null;
  instructions: string | null;
  /** The `model` by which it is spoken to. */
  chat_model: string;
  /** Its folder in the agent's workspace. */
  workspace: string;
  /** Whether the agent's machine has yet to take over how it is now: within seconds while it runs, else at its next start. */
  pending: boolean;
  created_at: string;
}

export interface AgentMemberList {
  object: 'list';
  data: AgentMember[];
  has_more: false;
  next_cursor: null;
}

export interface AgentResponse {
  /** For `previous_response_id`. */
  id: string;
  object: 'response';
  created_at: number;
  status: string;
  /** The agent's id, or `<agent id>/<member>`. */
  model: string;
  output: ResponseOutput[];
  /** Model usage of the turn, all its model calls added up. */
  usage: {
    input_tokens: number;
    output_tokens: number;
    total_tokens: number;
    [name: string]: unknown;
  };
  [name: string]: unknown;
}

export interface AgentResponseRequest {
  /** OpenAI's input: a text, or items. In a conversation that goes on only the new ones are needed. */
  input: string | readonly ResponseItem[];
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
  /** Names a conversation that the agent remembers. The header X-Conversation-Id does the same. */
  user?: string | null | undefined;
  /** Goes on with the conversation of that response, which must be one of the same agent or member; wins over `user`. The conversation goes on where it is by now. */
  previous_response_id?: string | null | undefined;
  /** `<agent id>/<member>` for a member; any other name means the agent that the path names. */
  model?: string | null | undefined;
  [name: string]: unknown;
}

export interface AgentSkill {
  object: 'agent_skill';
  agent_id: string;
  name: string;
  /** The id of the library's skill. */
  skill: string;
  /** As it was asked for. */
  version: number | 'latest';
  /** The version that it has now. */
  resolved_version: number;
  enabled: boolean;
  /** Names of the members that have it, and null for the agent itself. Null instead of a list: the agent and all its members, those to come too. */
  members: (string | null)[] | null;
  /** As the agent's runtime sees it. A read asks a running agent again after 15 seconds; else it is as it was last seen. `pending`: the machine has yet to take it, within seconds while it runs, else at its next start. `shadowed`: another skill of its name, mostly one in the workspace, is used in its place. `not_loaded`: the runtime does not offer it, as it is disabled, or as something is missing. With several members it is the worst of what they see. */
  state: 'loaded' | 'pending' | 'shadowed' | 'not_loaded';
  /** Things that the skill says it needs, and the machine lacks. */
  missing: {
    programs: string[];
    variables: string[];
  };
  /** Why the machine does not have the wanted skills. It is tried again. Null: it has them, or has yet to. */
  error: string | null;
  created_at: string;
  updated_at: string;
}

export interface AgentSkillList {
  object: 'list';
  data: AgentSkill[];
  has_more: false;
  next_cursor: null;
}

export interface AgentSkillRemoved {
  object: 'agent_skill.deleted';
  name: string;
  deleted: true;
  /** Whether it is still in the agent's machine. */
  pending: boolean;
}

export interface ApiKey {
  id: string;
  name: string;
  last4: string;
  scopes: ('agents:read' | 'agents:write' | 'agents:delete' | 'usage:read' | 'agents:chat' | 'keys:write')[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  /** The id of the key that made it and with which it ends; null: a person did. */
  made_by: string | null;
}

export interface ApiKeyList {
  data: ApiKey[];
}

export interface Approval {
  object: 'approval';
  channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail';
  sender: {
    id: string;
    /** The sender's own text. */
    name: string;
  };
  state: 'pending' | 'approved' | 'denied';
  /** What the sender was told; null once it is decided. */
  code: string | null;
  asked_at: string;
  decided_at: string | null;
}

export interface ApprovalList {
  object: 'list';
  data: Approval[];
  has_more: false;
  next_cursor: null;
}

export interface AuditEvent {
  object: 'audit_event';
  /** Rises with time, within one account. */
  id: string;
  created_at: string;
  actor: {
    /** `operator`: somebody at the command line of this deployment. */
    type: 'account' | 'api_key' | 'operator';
    id: string | null;
  };
  action: string;
  /** What it was done to. */
  target: {
    type: string;
    id: string;
  } | null;
  /** Where the request came from. */
  address: string | null;
  /** `X-Request-Id` of the request's reply. */
  request_id: string | null;
  /** Further facts, never a secret. */
  details: Record<string, unknown>;
}

export interface AuditEventList {
  object: 'list';
  data: AuditEvent[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export interface AuthorizationAnswer {
  /** Where the browser goes with the answer. */
  redirect_to: string;
}

export interface AuthorizationRequest {
  /** As the program calls itself: one line of visible characters. */
  client_name: string;
  /** Host of the program's own document; null: the program registered itself. */
  client_host: string | null;
  /** Host, or scheme of a program, that gets the answer. */
  redirect_host: string;
  /** Those that it asks for and that the person may give. */
  scopes: ('agents:read' | 'agents:write' | 'agents:delete' | 'usage:read' | 'agents:chat' | 'keys:write')[];
}

export interface BeginTotp {
  password: string;
}

export interface Browser {
  object: 'browser';
  /** The field `browser` of the agent. */
  enabled: boolean;
  /** `off`: the agent has none. `unavailable`: its machine cannot start one, `message` says why. `idle`: it starts when somebody uses it. `asleep`: the agent does not run. */
  status: 'off' | 'unavailable' | 'idle' | 'starting' | 'running' | 'failed' | 'asleep';
  /** Why it is unavailable or has failed. */
  message: string | null;
  /** At most 50 of its tabs, while it runs. */
  tabs: BrowserTab[];
  /** The one whose mouse and keyboard count; null while it does not run. */
  controlled_by: 'agent' | 'owner' | null;
  /** When the agent has the control again by itself; null while it has it. */
  control_ends_at: string | null;
}

export interface BrowserTab {
  id: string;
  /** The page's own words. */
  title: string;
  url: string;
}

export interface ChangePassword {
  current_password: string;
  new_password: string;
}

export interface Channel {
  object: 'channel';
  agent_id: string;
  channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail';
  enabled: boolean;
  /** `disconnected` is tried again by itself; `error` waits for a person, and `status_reason` says for what. */
  status: 'not_configured' | 'pending_pairing' | 'connecting' | 'connected' | 'disconnected' | 'error' | 'disabled';
  status_reason: {
    code: 'invalid_credentials' | 'wrong_kind_of_credential' | 'missing_permission' | 'revoked' | 'logged_out' | 'restricted' | 'used_elsewhere' | 'platform_unreachable' | 'platform_refused' | 'rate_limited' | 'deaf' | 'consent_needed' | 'pairing_needed' | 'not_verified' | 'relay_down';
    message: string;
    at: string;
  } | null;
  identity: ChannelIdentity | null;
  /** Secrets that are stored, by name, with their last four characters. */
  credentials: Record<string, {
    set: true;
    last4: string;
    /** Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes it; null: the secret cannot be opened. */
    fingerprint: string | null;
    created_at: string;
  }>;
  access: ChannelAccess;
  /** How messages come: the connection is held on the host. */
  delivery: {
    held_by: 'host';
    /** What cannot be proved, or is restricted, though it works. */
    note: string | null;
  };
  last_inbound_at: string | null;
  last_outbound_at: string | null;
  created_at: string | null;
  updated_at: string | null;
}

export interface ChannelAccess {
  /** Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`: `allow_from` alone. `open`: anybody. `disabled`: nobody. */
  mode: 'pairing' | 'allowlist' | 'open' | 'disabled';
  allow_from: string[];
  /** Messages of one sender in an hour that are answered; more are refused. */
  per_sender_hourly: number;
  groups: {
    /** `allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in none. */
    mode: 'allowlist' | 'open' | 'disabled';
    allow: string[];
    /** False: it answers what does not address it, too. */
    require_mention: boolean;
  };
}

/** Who the agent is on the platform. */
export interface ChannelIdentity {
  id: string;
  name: string;
}

export interface ChannelList {
  object: 'list';
  data: Channel[];
  has_more: false;
  next_cursor: null;
}

export interface ChannelMessage {
  object: 'channel_message';
  id: string;
  agent_id: string;
  channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail';
  conversation: {
    id: string;
    kind: 'direct' | 'group';
  };
  sender: {
    id: string;
    /** The sender's own text. */
    name: string;
  };
  /** `unknown`: an answer was sent, and whether it arrived cannot be told. `refused`: the access of the channel did not let it in. */
  state: 'received' | 'answered' | 'failed' | 'unknown' | 'refused';
  /** Why it is `failed`, `unknown` or `refused`. */
  reason: string | null;
  /** How often a turn was begun for it. */
  attempts: number;
  received_at: string;
  answered_at: string | null;
  /** What was written. Only with `content=true`. */
  text?: string | null;
  /** What the agent answered. Only with `content=true`. */
  answer?: string | null;
}

export interface ChannelMessageList {
  object: 'list';
  data: ChannelMessage[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export interface ChannelReason {
  code: 'invalid_credentials' | 'wrong_kind_of_credential' | 'missing_permission' | 'revoked' | 'logged_out' | 'restricted' | 'used_elsewhere' | 'platform_unreachable' | 'platform_refused' | 'rate_limited' | 'deaf' | 'consent_needed' | 'pairing_needed' | 'not_verified' | 'relay_down';
  message: string;
}

export interface ChannelTest {
  object: 'channel_test';
  channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail';
  /** Whether the platform said nothing against it. */
  ok: boolean;
  /** The channel's. */
  status: 'not_configured' | 'pending_pairing' | 'connecting' | 'connected' | 'disconnected' | 'error' | 'disabled';
  identity: ChannelIdentity | null;
  reason: ChannelReason | null;
  message_queued: boolean;
}

/** By channel, each as the body of its PUT; `email` is another name for `gmail`. Credentials are verified before the agent is made. */
export interface ChannelsInput {
  slack?: {
    /** For Socket Mode. Left out, the stored one stays. */
    appToken?: string | undefined;
    /** Kept encrypted, never given back. Left out, the stored one stays. */
    botToken?: string | undefined;
    /** False: kept, and not connected. */
    enabled?: boolean | undefined;
    /** Fields that are left out have their defaults: `pairing`, and groups by mention. */
    access?: {
      /** Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`: `allow_from` alone. `open`: anybody. `disabled`: nobody. */
      mode?: 'pairing' | 'allowlist' | 'open' | 'disabled' | undefined;
      allow_from?: readonly string[] | undefined;
      /** Messages of one sender in an hour that are answered; more are refused. */
      per_sender_hourly?: number | undefined;
      groups?: {
        /** `allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in none. */
        mode?: 'allowlist' | 'open' | 'disabled' | undefined;
        allow?: readonly string[] | undefined;
        /** False: it answers what does not address it, too. */
        require_mention?: boolean | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
  discord?: {
    /** Kept encrypted, never given back. Left out, the stored one stays. */
    botToken?: string | undefined;
    /** False: kept, and not connected. */
    enabled?: boolean | undefined;
    /** Fields that are left out have their defaults: `pairing`, and groups by mention. */
    access?: {
      /** Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`: `allow_from` alone. `open`: anybody. `disabled`: nobody. */
      mode?: 'pairing' | 'allowlist' | 'open' | 'disabled' | undefined;
      allow_from?: readonly string[] | undefined;
      /** Messages of one sender in an hour that are answered; more are refused. */
      per_sender_hourly?: number | undefined;
      groups?: {
        /** `allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in none. */
        mode?: 'allowlist' | 'open' | 'disabled' | undefined;
        allow?: readonly string[] | undefined;
        /** False: it answers what does not address it, too. */
        require_mention?: boolean | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
  telegram?: {
    /** Kept encrypted, never given back. Left out, the stored one stays. */
    botToken?: string | undefined;
    /** False: kept, and not connected. */
    enabled?: boolean | undefined;
    /** Fields that are left out have their defaults: `pairing`, and groups by mention. */
    access?: {
      /** Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`: `allow_from` alone. `open`: anybody. `disabled`: nobody. */
      mode?: 'pairing' | 'allowlist' | 'open' | 'disabled' | undefined;
      allow_from?: readonly string[] | undefined;
      /** Messages of one sender in an hour that are answered; more are refused. */
      per_sender_hourly?: number | undefined;
      groups?: {
        /** `allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in none. */
        mode?: 'allowlist' | 'open' | 'disabled' | undefined;
        allow?: readonly string[] | undefined;
        /** False: it answers what does not address it, too. */
        require_mention?: boolean | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
  whatsapp?: {
    /** False: kept, and not connected. */
    enabled?: boolean | undefined;
    /** Fields that are left out have their defaults: `pairing`, and groups by mention. */
    access?: {
      /** Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`: `allow_from` alone. `open`: anybody. `disabled`: nobody. */
      mode?: 'pairing' | 'allowlist' | 'open' | 'disabled' | undefined;
      allow_from?: readonly string[] | undefined;
      /** Messages of one sender in an hour that are answered; more are refused. */
      per_sender_hourly?: number | undefined;
      groups?: {
        /** `allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in none. */
        mode?: 'allowlist' | 'open' | 'disabled' | undefined;
        allow?: readonly string[] | undefined;
        /** False: it answers what does not address it, too. */
        require_mention?: boolean | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
  gmail?: {
    /** False: kept, and not connected. */
    enabled?: boolean | undefined;
    /** Fields that are left out have their defaults: `pairing`, and groups by mention. */
    access?: {
      /** Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`: `allow_from` alone. `open`: anybody. `disabled`: nobody. */
      mode?: 'pairing' | 'allowlist' | 'open' | 'disabled' | undefined;
      allow_from?: readonly string[] | undefined;
      /** Messages of one sender in an hour that are answered; more are refused. */
      per_sender_hourly?: number | undefined;
      groups?: {
        /** `allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in none. */
        mode?: 'allowlist' | 'open' | 'disabled' | undefined;
        allow?: readonly string[] | undefined;
        /** False: it answers what does not address it, too. */
        require_mention?: boolean | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
  email?: {
    /** False: kept, and not connected. */
    enabled?: boolean | undefined;
    /** Fields that are left out have their defaults: `pairing`, and groups by mention. */
    access?: {
      /** Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`: `allow_from` alone. `open`: anybody. `disabled`: nobody. */
      mode?: 'pairing' | 'allowlist' | 'open' | 'disabled' | undefined;
      allow_from?: readonly string[] | undefined;
      /** Messages of one sender in an hour that are answered; more are refused. */
      per_sender_hourly?: number | undefined;
      groups?: {
        /** `allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in none. */
        mode?: 'allowlist' | 'open' | 'disabled' | undefined;
        allow?: readonly string[] | undefined;
        /** False: it answers what does not address it, too. */
        require_mention?: boolean | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
}

/** OpenAI's choice: the answer. There is one. */
export interface ChatChoice {
  index: number;
  message: { role: 'assistant'; content: string | null; [name: string]: unknown };
  finish_reason: string | null;
  [name: string]: unknown;
}

/** OpenAI's choice of a chunk: what was said since the last. */
export interface ChatChunkChoice {
  index: number;
  delta: { role?: string; content?: string | null; [name: string]: unknown };
  finish_reason: string | null;
  [name: string]: unknown;
}

export interface ChatCompletion {
  id: string;
  object: 'chat.completion';
  created: number;
  /** The agent's id, or `<agent id>/<member>`. */
  model: string;
  choices: ChatChoice[];
  /** Model usage of the turn, all its model calls added up. */
  usage: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    [name: string]: unknown;
  };
  [name: string]: unknown;
}

export interface ChatCompletionChunk {
  id: string;
  object: 'chat.completion.chunk';
  created: number;
  /** The agent's id, or `<agent id>/<member>`. */
  model: string;
  choices: ChatChunkChoice[];
  step?: ToolStep;
  [name: string]: unknown;
}

/** OpenAI's message of a conversation. */
export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | (string & {});
  /** A text, or parts: `{type: 'text', text}`, `{type: 'image_url', image_url: {url}}`. */
  content?: string | readonly Record<string, unknown>[] | null | undefined;
  name?: string | undefined;
  [name: string]: unknown;
}

export type ChatStreamEvent = {
  event?: 'message';
  data: ChatCompletionChunk;
} | {
  data: '[DONE]';
} | {
  event?: 'message';
  data: ErrorBody;
};

export interface ConfirmTotp {
  code: string;
}

export interface Confirmation {
  object: 'confirmation';
  id: string;
  agent_id: string;
  kind: 'call' | 'question';
  /** `allowed`: the call was not made yet. `sending`: it is under way. `failed`: it was allowed and could not be made. `unknown`: it may have been made, and is never repeated. */
  status: 'pending' | 'allowed' | 'sending' | 'done' | 'denied' | 'expired' | 'failed' | 'unknown';
  /** The words of rules for it. */
  on: string;
  /** Lodge's own words. */
  action: string;
  /** The agent's words: at most 2000 characters. Signs that hide or reorder text are written as \u…. */
  quoted: string | null;
  /** Whether `quoted` is only the beginning. */
  cut: boolean;
  /** The options of a question. */
  options: string[];
  /** SHA-256 of the whole call as it is stored, in hex. It is sent as it is stored. */
  digest: string;
  /** The conversation of the turn; null outside of one. */
  conversation: string | null;
  decision: 'allow' | 'deny' | null;
  /** The owner's words about a decision. */
  reason: string | null;
  /** The owner's answer to a question. */
  answer: string | null;
  /** `conversation`: the same method and path, or tool, has the same decision in this conversation. `rule`: a rule of the agent says so from now on. */
  remember: 'none' | 'conversation' | 'rule';
  requested_at: string;
  expires_at: string;
  decided_at: string | null;
  ended_at: string | null;
}

export interface ConfirmationList {
  object: 'list';
  data: Confirmation[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

/** Rules about the calls of the agent that need a yes. They are enforced on the host. */
export interface ConfirmationRules {
  /** The first one that fits counts. */
  rules: {
    /** `connection:<name>`, `tool:<name>` for a tool of Lodge, `messages`, `schedules`, `packages` or `command`. */
    on: string;
    /** A pattern with `*` for any characters. For an `http` connection it is about the method and the path, without the query; for an `mcp` connection about the name of the tool; for a tool of Lodge about its name or the JSON of its arguments. A rule that restricts ignores case, and a slash at the end. */
    match: string;
    /** `ask`: the call waits for a yes. */
    policy: 'allow' | 'ask' | 'deny';
  }[];
  /** The policy for every other call by a connection, and for tools of Lodge that change something. */
  default: 'allow' | 'ask' | 'deny';
  /** Conversations in which the owner is asked. */
  deliver: {
    channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email';
    /** The id of a conversation that wrote to the agent there. */
    conversation: string;
  }[];
  /** Ids of senders on channels who may decide there, each alone or behind the name of its channel. Nobody else can. */
  deciders: string[];
  /** Time until an undecided confirmation is closed, of 5 minutes to 30 days. */
  expires: string;
}

export interface Connection {
  object: 'connection';
  agent_id: string;
  name: string;
  /** `mcp`: a server of the Model Context Protocol over streamable HTTP; the agent has its tools. `http`: any HTTP service; the agent sends it requests, as far as `allow` goes. `host`: hosts that programs in the machine reach by https under their own names, with placeholders in the place of secrets. */
  kind: 'mcp' | 'http' | 'host';
  /** For `host`: of its first host. */
  url: string;
  /** For `host`: whole names of hosts, without wildcards. In the machine they lead to Lodge, and no others do. */
  hosts: string[];
  /** For `host`: secrets by the names of their variables, with the last four characters of their values. */
  secrets: Record<string, {
    set: true;
    last4: string;
    /** Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes it; null: the secret cannot be opened. */
    fingerprint: string | null;
    /** Headers in which the placeholder is replaced, and no others. */
    in: string[];
    /** The value of the variable in the machine. It is no secret. */
    placeholder: string;
    created_at: string;
  }>;
  /** Headers that are stored, by name, with the last four characters of their values. */
  headers: Record<string, {
    set: true;
    last4: string;
    /** Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes it; null: the secret cannot be opened. */
    fingerprint: string | null;
    created_at: string;
  }>;
  /** For `http` and `host`: what may be asked. Nothing else is, and one entry must name both the method and the path. */
  allow: ConnectionAllow[];
  /** For `mcp`: the tools that the agent has, by the server's names; null: all of them. */
  tools: string[] | null;
  auth: ConnectionAuth | null;
  oauth: ConnectionOAuth | null;
  enabled: boolean;
  /** Why Lodge disabled the connection: the server's answers held its credential. The next PUT clears it. Null: Lodge did not. */
  status_reason: string | null;
  /** For `http`: where programs in the agent's machine reach it, below `http://10.0.2.2:4000`. Null for `mcp` and `host`. */
  guest_path: string | null;
  created_at: string;
  updated_at: string;
}

export interface ConnectionAllow {
  methods: readonly ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')[];
  /** Below the connection's `url`, or the hosts: whole paths, or `/…/*` for all that is below one. */
  paths: readonly string[];
}

export interface ConnectionAuth {
  kind: 'oauth';
  /** A client that you made at the authorization server, which `http` and `host` need; null: one is registered with each consent. */
  client_id: string | null;
  client_secret: {
    set: true;
    last4: string;
    /** Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes it; null: the secret cannot be opened. */
    fingerprint: string | null;
  } | null;
  /** What is asked for; null: what the server names. */
  scope: string | null;
  /** For `http` and `host`: where the authorization server asks a person. Its query may have what that server wants beside OAuth, such as `access_type=offline`. */
  authorization_url: string | null;
  /** For `http` and `host`: where the authorization server gives and renews access. A stored client secret goes to no other address. */
  token_url: string | null;
  /** For `http` and `host`: how the client shows its secret, in a header or in the body; null: in a header. */
  client_auth: 'client_secret_basic' | 'client_secret_post' | null;
}

export interface ConnectionList {
  object: 'list';
  data: Connection[];
  has_more: false;
  next_cursor: null;
}

/** How far a consent has come; null: none is needed, as far as the server has said. */
export interface ConnectionOAuth {
  /** `needed`: somebody must consent before the connection can be used. `connected`: there is access, and the host renews it. `failed`: it could not be renewed for now; the next call tries again. */
  status: 'needed' | 'connected' | 'failed';
  /** Why it is not `connected`, where there is more to say. */
  reason: string | null;
  /** What was granted. */
  scope: string | null;
  /** When the present access ends, and is renewed before; null where nobody said. */
  expires_at: string | null;
}

export interface ConnectionOAuthSession {
  object: 'oauth_session';
  id: string;
  connection: string;
  status: 'pending';
  /** Open it in the browser of who may consent. */
  authorization_url: string;
  state: string;
  expires_at: string;
}

export interface CreateAgent {
  /** Display name, 1 to 100 characters after trimming. */
  name: string;
  /** `<provider>/<model_name>` for runtime_a; bare `<model_name>` for runtime_b, whose provider is that of its keys. Without it the deployment chooses. */
  model?: string | undefined;
  /** Free text; only a label. */
  description?: string | null | undefined;
  /** Keys of LLM providers, one per provider. */
  llm_keys?: readonly {
    /** An id of `GET /v1/providers`. */
    provider: string;
    /** The provider's secret. Kept encrypted, never given back. */
    api_key: string;
  }[] | undefined;
  /** True: each key is checked first, and one that its provider does not accept is a 400. One that cannot be checked is taken. */
  check_keys?: boolean | undefined;
  /** `openclaw` is another name for `runtime_a`, `hermes` for `runtime_b`. */
  runtime_kind?: 'runtime_a' | 'runtime_b' | 'openclaw' | 'hermes' | undefined;
  /** Begins from a snapshot instead of the template: the machine, with its files and conversations, is that of the snapshot, and every setting is that of this request. `runtime_kind` is that of the snapshot, and `size` is not smaller; both are taken from it where they are left out. */
  from?: {
    /** A snapshot of the account. */
    snapshot: string;
    /** The profile of its `browser` comes along, with its logins; by default it is removed. */
    include?: readonly 'browser'[] | undefined;
  } | undefined;
  /** Machine size. */
  size?: 'small' | 'medium' | 'large' | 'xlarge' | undefined;
  /** Another name for `size`. */
  machine_size?: 'small' | 'medium' | 'large' | 'xlarge' | undefined;
  /** Fields that are left out keep their defaults. */
  lifecycle?: {
    /** Idle for this long, a running agent is paused; 0 is never. */
    idle_timeout_seconds?: number | undefined;
    /** Paused for this long, an agent is stopped. */
    stop_after_seconds?: number | undefined;
    /** `auto`: an idle agent sleeps. `always`: it does not. */
    keep_awake?: 'auto' | 'always' | undefined;
    /** A request wakes a paused agent. */
    auto_resume?: boolean | undefined;
    /** A request starts a stopped agent. */
    auto_start?: boolean | undefined;
    /** A message on a channel wakes the agent. */
    wake_on_message?: boolean | undefined;
  } | undefined;
  /** Up to 50 short pairs to select by: `label[team]=support` in a list. Notes of your own are `metadata`. */
  labels?: Record<string, string> | undefined;
  /** Up to 50 pairs of strings: your own notes. What lists are to select by are `labels`. */
  metadata?: Record<string, string> | undefined;
  channels?: ChannelsInput | undefined;
  spend_limit?: SpendLimitInput | null | undefined;
  /** What the agent's machine may reach; given as a whole. Without `mode` it is `public`. */
  egress?: {
    /** `public`: every public address. `allowlist`: what `allow` names and nothing else. `none`: nothing. The model broker is reached in each. */
    mode?: 'public' | 'allowlist' | 'none' | undefined;
    /** Names, `*.name` for every name below one (of at least two parts), and public IPv4 addresses or blocks of /8 to /32. Only with `allowlist`. Kept in lower case and in ASCII, an address as a block. */
    allow?: readonly string[] | undefined;
  } | null | undefined;
  /** Plain variables of the commands, terminals and tools in the agent’s machine, by name. The agent reads them: secrets belong in connections. Names that change how programs are found, loaded or trusted are refused. */
  env?: Record<string, string> | null | undefined;
  /** Packages that root installs in the agent's machine, for all its programs. It happens behind the reply: `settings_pending` is true until then. The lists are given as a whole: one that is left out is empty. */
  packages?: {
    /** Packages of Debian's, each with an optional version: `<name>` or `<name>=<version>`. */
    apt?: readonly string[] | undefined;
    /** Python packages: `<name>` or `<name>==<version>`. */
    pip?: readonly string[] | undefined;
    /** npm packages, for their commands: `<name>` or `<name>@<version>`. */
    npm?: readonly string[] | undefined;
  } | null | undefined;
  /** Rules about the calls of the agent that need a yes, given as a whole. In effect with the next call. */
  confirmations?: {
    /** The first one that fits counts. */
    rules: readonly {
      /** `connection:<name>`, `tool:<name>` for a tool of Lodge, `messages`, `schedules`, `packages` or `command`. */
      on: string;
      /** A pattern with `*` for any characters. For an `http` connection it is about the method and the path, without the query; for an `mcp` connection about the name of the tool; for a tool of Lodge about its name or the JSON of its arguments. A rule that restricts ignores case, and a slash at the end. */
      match?: string | undefined;
      /** `ask`: the call waits for a yes. */
      policy: 'allow' | 'ask' | 'deny';
    }[];
    /** The policy for every other call by a connection, and for tools of Lodge that change something. */
    default?: 'allow' | 'ask' | 'deny' | undefined;
    /** Conversations in which the owner is asked. */
    deliver?: readonly {
      channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email';
      /** The id of a conversation that wrote to the agent there. */
      conversation: string;
    }[] | undefined;
    /** Ids of senders on channels who may decide there, each alone or behind the name of its channel. Nobody else can. */
    deciders?: readonly string[] | undefined;
    /** Time until an undecided confirmation is closed, of 5 minutes to 30 days. */
    expires?: string | undefined;
  } | null | undefined;
  /** Models that the agent may call beside its own and its members', each as `<provider>/<model_name>` whatever its runtime. Null: any of the providers that it has a key for; under a spend limit, any with a known price. */
  models?: readonly string[] | null | undefined;
  /** Ids of agents of the account that it may ask with its tool `ask_agent`; `*` for all. None by default. */
  peers?: readonly string[] | null | undefined;
  /** When snapshots of the agent are made by themselves, and how long those are kept. Replaces the plan as a whole: what is left out has its default, and by default none are made. */
  snapshots?: {
    /** One after so many turns, once the agent is quiet; null: turns do not count. */
    every_turns?: number | null | undefined;
    /** One when this time has passed since the last snapshot, once the agent is quiet and had a turn: minutes, hours or days, from `5m` to `366d`; null: time does not count. */
    every?: string | null | undefined;
    /** Most automatic ones; the oldest go first. */
    keep?: number | undefined;
    /** Days after which an automatic one is deleted. */
    keep_days?: number | undefined;
  } | null | undefined;
  /** Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its identity. Null, or nothing but white space: none. */
  instructions?: string | null | undefined;
  /** For runtime_b alone. */
  dashboard?: boolean | undefined;
  /** Whether it has a browser in its machine. It needs room: runtime_a from the size `medium` on, runtime_b from the size `small` on. */
  browser?: boolean | undefined;
}

export interface CreateApiKey {
  name: string;
  /** None that the role of its person, or the key that makes it, lacks. */
  scopes: readonly ('agents:read' | 'agents:write' | 'agents:delete' | 'usage:read' | 'agents:chat' | 'keys:write')[];
  /** Null: never. A key that a key makes expires with it at the latest, and by default. */
  expires_at?: string | null | undefined;
}

export interface CreateHook {
  name: string;
  /** What the agent is told, with fields of the JSON by their paths, such as `{{issue.title}}`; `{{list.0}}` is the first of a list. Each is put in as JSON on one line, in at most 4 KiB, all together in 16 KiB. Without a template the agent gets the whole JSON, in at most 16 KiB. */
  template?: string | undefined;
  /** The agent's conversation that the messages go on with, as `user` names it in a chat. Without it the hook has one of its own. */
  conversation?: string | undefined;
  deliver?: {
    /** `none`: a line of it is in the agent's log. `channel`: it is said in a conversation. `webhook`: the event `hook.answered` has it. */
    to: 'none' | 'channel' | 'webhook';
    /** With `to: "channel"`. */
    channel?: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email' | undefined;
    /** With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET /v1/agents/:id/messages` shows it. */
    conversation?: string | undefined;
  } | undefined;
  signature?: {
    /** `github`: `X-Hub-Signature-256`. `stripe`: `Stripe-Signature`, at most 5 minutes old. `standard`: Standard Webhooks. `hmac`: HMAC-SHA256 of the body in a header of your own. */
    type: 'github' | 'stripe' | 'standard' | 'hmac';
    /** What the sender signs with. Kept encrypted, never given back. */
    secret: string;
    /** With type `hmac`: the header of the signature. */
    header?: string | undefined;
    /** With type `hmac`. */
    encoding?: 'hex' | 'base64' | undefined;
    /** With type `hmac`: what stands before the signature, such as `sha256=`. */
    prefix?: string | undefined;
  } | undefined;
}

export interface CreateInvitation {
  /** The only one that may accept it; null: whoever has the link. */
  email?: string | null | undefined;
  /** Of the account that it makes. */
  role?: 'member' | 'viewer' | undefined;
}

export interface CreateLink {
  /** `gateway`: the agent's `url`; `dashboard`: its `dashboard_url`; `port`: a published port; `browser`: a view of the agent's browser. */
  page?: 'gateway' | 'dashboard' | 'port' | 'browser' | undefined;
  /** With `page: "port"`: which one. */
  port?: number | null | undefined;
  /** Where the link leads. */
  path?: string | undefined;
  /** How long the link can be opened; once. */
  expires_in_seconds?: number | undefined;
  /** How long the browser that opened it may look at the page. */
  visit_seconds?: number | undefined;
}

export interface CreateMember {
  /** Lower case letters, digits and hyphens, 2 to 32, a letter first. */
  name: string;
  /** `<provider>/<model_name>`; null: the agent's own model. */
  model?: string | null | undefined;
  /** Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its identity. Null, or nothing but white space: none. */
  instructions?: string | null | undefined;
}

/** With exactly one of `cron`, `every` and `at`. */
export interface CreateSchedule {
  name: string;
  /** False: no time comes. It can be run by hand. */
  enabled?: boolean | undefined;
  /** Five fields: minute, hour, day of month, month, day of week, in `time_zone`. Where clocks go ahead, a time that does not come comes at the end of the gap; where they go back, a time that comes twice is taken once. An expression with `*` or a step among minutes and hours runs by elapsed time instead. */
  cron?: string | undefined;
  /** An interval of minutes, hours or days, from `1m` to `366d`; the first run is one interval from now. */
  every?: string | undefined;
  /** One time. */
  at?: string | undefined;
  /** A name of the time zone database. */
  time_zone?: string | undefined;
  /** What the agent is told. A line before it says which schedule it is, and for when. */
  prompt: string;
  /** The agent's conversation that the runs go on with, as `user` names it in a chat. Without it the schedule has one of its own. */
  conversation?: string | null | undefined;
  deliver?: {
    /** `none`: the answer stays in the run. `channel`: it is said in a conversation. `webhook`: the event `schedule.ran` has it. */
    to: 'none' | 'channel' | 'webhook';
    /** With `to: "channel"`. */
    channel?: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email' | undefined;
    /** With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET /v1/agents/:id/messages` shows it. */
    conversation?: string | undefined;
  } | undefined;
  /** False: an agent that does not run is left asleep, and the time is `skipped`. */
  wake?: boolean | undefined;
}

export interface CreateSnapshot {
  name?: string | null | undefined;
  /** Free text. */
  note?: string | null | undefined;
  /** False: the disk alone is saved, and no turn is waited for. */
  memory?: boolean | undefined;
  /** True: it outlives its agent. */
  pinned?: boolean | undefined;
  /** It is deleted then; null: it is kept. */
  expires_at?: string | null | undefined;
}

export interface CreateWebhook {
  /** Where events are sent, by https. Private addresses are refused unless the operator allows them. */
  url: string;
  /** Types of events: a type such as `agent.paused`, a family such as `agent.*`, or `*` for all. */
  events: readonly string[];
  /** A label of your own. */
  description?: string | undefined;
  /** A disabled webhook is told nothing. */
  enabled?: boolean | undefined;
}

export interface CreatedApiKey {
  id: string;
  name: string;
  last4: string;
  scopes: ('agents:read' | 'agents:write' | 'agents:delete' | 'usage:read' | 'agents:chat' | 'keys:write')[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  /** The id of the key that made it and with which it ends; null: a person did. */
  made_by: string | null;
  /** The whole key. */
  key: string;
}

export interface CreatedHook {
  object: 'hook';
  id: string;
  agent_id: string;
  name: string;
  /** The end of the hook's token. */
  last4: string;
  /** What the agent is told, with fields of the JSON by their paths, such as `{{issue.title}}`; `{{list.0}}` is the first of a list. Each is put in as JSON on one line, in at most 4 KiB, all together in 16 KiB. Without a template the agent gets the whole JSON, in at most 16 KiB. */
  template?: string;
  /** The agent's conversation that the messages go on with, as `user` names it in a chat. Without it the hook has one of its own. */
  conversation?: string;
  deliver: {
    /** `none`: a line of it is in the agent's log. `channel`: it is said in a conversation. `webhook`: the event `hook.answered` has it. */
    to: 'none' | 'channel' | 'webhook';
    /** With `to: "channel"`. */
    channel?: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email';
    /** With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET /v1/agents/:id/messages` shows it. */
    conversation?: string;
  };
  signature?: {
    /** `github`: `X-Hub-Signature-256`. `stripe`: `Stripe-Signature`, at most 5 minutes old. `standard`: Standard Webhooks. `hmac`: HMAC-SHA256 of the body in a header of your own. */
    type: 'github' | 'stripe' | 'standard' | 'hmac';
    /** With type `hmac`: the header of the signature. */
    header?: string;
    /** With type `hmac`. */
    encoding?: 'hex' | 'base64';
    /** With type `hmac`: what stands before the signature, such as `sha256=`. */
    prefix?: string;
    secret: {
      set: true;
      last4: string;
      /** Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes it; null: the secret cannot be opened. */
      fingerprint: string | null;
    };
  };
  created_at: string;
  /** Shown this once: whoever has it may send messages to the agent. */
  token: string;
  /** Where the third party sends its requests, with the token in it. */
  url: string;
}

export interface CreatedInvitation {
  id: string;
  email: string | null;
  role: 'owner' | 'member' | 'viewer';
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
  url: string;
}

export interface DecideApproval {
  /** The code that the sender was told. */
  code: string;
  action: 'approve' | 'deny';
}

export interface DecideAuthorization {
  client_id: string;
  redirect_uri: string;
  response_type: string;
  code_challenge: string;
  code_challenge_method: string;
  scope?: string | null | undefined;
  state?: string | null | undefined;
  resource?: string | null | undefined;
  approve: boolean;
  /** Those that the program gets. Only with `approve`. */
  scopes?: readonly ('agents:read' | 'agents:write' | 'agents:delete' | 'usage:read' | 'agents:chat' | 'keys:write')[] | null | undefined;
}

export interface DecideConfirmation {
  decision: 'allow' | 'deny';
  /** For the agent. */
  reason?: string | undefined;
  /** For a question that is allowed: one of its options, or other words. */
  answer?: string | undefined;
  /** `conversation`: the same method and path, or tool, has the same decision in this conversation. `rule`: a rule of the agent says so from now on. */
  remember?: 'none' | 'conversation' | 'rule' | undefined;
}

export interface DecideDeviceRequest {
  user_code: string;
  approve: boolean;
  /** Those that the key gets, of those that were asked for. Only with `approve`. */
  scopes?: readonly ('agents:read' | 'agents:write' | 'agents:delete' | 'usage:read' | 'agents:chat' | 'keys:write')[] | null | undefined;
}

export interface DeletedAgent {
  object: 'agent.deleted';
  id: string;
  deleted: true;
}

export interface DeletedChannel {
  object: 'channel.deleted';
  channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail';
  deleted: true;
}

export interface DeletedConnection {
  object: 'connection.deleted';
  name: string;
  deleted: true;
}

export interface DeletedHook {
  object: 'hook.deleted';
  id: string;
  deleted: true;
}

export interface DeletedMember {
  object: 'member.deleted';
  name: string;
  deleted: true;
  /** Whether its workspace and sessions are still in the agent's machine. */
  pending: boolean;
}

export interface DeletedPort {
  object: 'port.deleted';
  port: number;
  deleted: true;
}

export interface DeletedSchedule {
  object: 'schedule.deleted';
  id: string;
  deleted: true;
}

export interface DeletedSnapshot {
  object: 'snapshot.deleted';
  id: string;
  deleted: true;
}

export interface DeviceAuthorization {
  /** For the token endpoint alone. Whoever has it gets the key. */
  device_code: string;
  /** What the person compares and types. */
  user_code: string;
  verification_uri: string;
  /** The same with the code in it. */
  verification_uri_complete: string;
  /** Seconds. */
  expires_in: number;
  /** Least seconds between two requests for the token. */
  interval: number;
}

export interface DeviceAuthorizationRequest {
  /** Whom the person gives a key, such as the machine's name. The key gets this name. */
  client_name: string;
  /** Scopes with one space between two: agents:read, agents:write, agents:delete, usage:read, agents:chat, keys:write. Without it all but `keys:write`. The person may give less. */
  scope?: string | undefined;
}

export interface DeviceRequest {
  /** As the machine calls itself: one line of visible characters. */
  client_name: string;
  /** Where the request came from. */
  address: string;
  /** Those that it asks for and that the person may give. */
  scopes: ('agents:read' | 'agents:write' | 'agents:delete' | 'usage:read' | 'agents:chat' | 'keys:write')[];
  created_at: string;
  expires_at: string;
}

export interface Disk {
  /** Size of the disk as the machine sees it. */
  limit_gb: number;
  /** What the agent has written to it, as looked at in the last seconds; null while that is not known here. */
  used_gb: number | null;
}

/** What the agent's machine may reach. */
export interface Egress {
  /** `public`: every public address. `allowlist`: what `allow` names and nothing else. `none`: nothing. The model broker is reached in each. */
  mode: 'public' | 'allowlist' | 'none';
  /** Names, `*.name` for every name below one (of at least two parts), and public IPv4 addresses or blocks of /8 to /32. Only with `allowlist`. Kept in lower case and in ASCII, an address as a block. */
  allow: string[];
}

export interface ErrorBody {
  error: {
    type: 'invalid_request_error' | 'authentication_error' | 'authorization_error' | 'not_found_error' | 'rate_limit_error' | 'server_error';
    code: 'invalid_request' | 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'invalid_grant' | 'invalid_client' | 'invalid_redirect_uri' | 'invalid_target' | 'invalid_scope' | 'unsupported_grant_type' | 'invalid_json' | 'missing_api_key' | 'invalid_api_key' | 'revoked_api_key' | 'expired_api_key' | 'not_signed_in' | 'invalid_credentials' | 'second_factor_required' | 'invalid_code' | 'invalid_signature' | 'insufficient_scope' | 'csrf_refused' | 'owner_only' | 'registration_closed' | 'agent_not_found' | 'member_not_found' | 'port_not_found' | 'llm_call_not_found' | 'file_not_found' | 'link_not_valid' | 'session_not_found' | 'key_not_found' | 'device_code_not_found' | 'grant_not_found' | 'invitation_not_found' | 'account_not_found' | 'route_not_found' | 'method_not_allowed' | 'member_exists' | 'email_taken' | 'agent_not_running' | 'agent_transitioning' | 'agent_busy' | 'agent_not_resumable' | 'agent_outdated' | 'file_conflict' | 'disk_full' | 'idempotency_key_reused' | 'idempotency_in_progress' | 'precondition_failed' | 'request_too_large' | 'unsupported_media_type' | 'range_not_satisfiable' | 'rate_limit_exceeded' | 'spend_limit_exceeded' | 'loop_detected' | 'quota_exceeded' | 'internal_error' | 'provisioning_failed' | 'insufficient_capacity' | 'agent_unavailable' | 'browser_not_running' | 'channel_not_found' | 'message_not_found' | 'approval_not_found' | 'channel_conflict' | 'gmail_not_configured' | 'message_not_retryable' | 'schedule_not_found' | 'schedule_running' | 'hook_not_found' | 'confirmation_not_found' | 'confirmation_closed' | 'connection_not_found' | 'oauth_not_configured' | 'oauth_not_possible' | 'webhook_not_found' | 'delivery_not_found' | 'webhook_disabled' | 'skill_not_found' | 'skill_in_use' | 'skill_refused' | 'skill_source_failed' | 'snapshot_not_found' | 'snapshot_not_ready' | 'snapshot_damaged';
    /** For a person; not stable. */
    message: string;
    /** With `skill_refused` alone: what the review found. */
    findings?: SkillFinding[];
  };
}

export interface LodgeEvent {
  object: 'event';
  /** Rises with time, within one account. */
  id: string;
  /** The kind of the event. Further types may come: skip those that you do not know. Today: `agent.operation_ended`, `agent.provisioned`, `agent.started`, `agent.restarted`, `agent.recovered`, `agent.resumed`, `agent.paused`, `agent.pause_failed`, `agent.stopped`, `agent.stop_failed`, `agent.start_failed`, `agent.starting`, `agent.restarting`, `agent.gateway_unhealthy`, `agent.crashed`, `agent.resume_failed`, `agent.error`, `agent.upgrading`, `agent.upgraded`, `agent.upgrade_failed`, `agent.restoring`, `agent.restored`, `agent.restore_undone`, `agent.exported`, `agent.export_failed`, `agent.resized`, `agent.resize_failed`, `agent.settings_applied`, `agent.packages_installed`, `agent.packages_failed`, `agent.skills_loaded`, `agent.skills_failed`, `agent.egress_applied`, `agent.created`, `agent.forked`, `agent.imported`, `agent.export_requested`, `agent.updated`, `agent.deleted`, `agent.start_requested`, `agent.resume_requested`, `agent.pause_requested`, `agent.stop_requested`, `agent.restart_requested`, `agent.upgrade_requested`, `agent.restore_requested`, `agent.member_created`, `agent.member_updated`, `agent.member_deleted`, `agent.port_published`, `agent.port_unpublished`, `api_key.created`, `api_key.revoked`, `oauth.granted`, `oauth.revoked`, `oauth.reuse_detected`, `account.updated`, `account.spend_limit_set`, `webhook.created`, `webhook.updated`, `webhook.removed`, `webhook.disabled`, `session.created`, `session.ended`, `sessions.ended`, `password.changed`, `password.reset`, `totp.enabled`, `totp.removed`, `invitation.created`, `invitation.accepted`, `invitation.ended`, `usage.limit_warning`, `usage.limit_reached`, `channel.configured`, `channel.removed`, `channel.restarted`, `channel.sender_decided`, `channel.connected`, `channel.disconnected`, `channel.pairing_required`, `channel.access_requested`, `message.received`, `message.retried`, `message.answered`, `message.failed`, `schedule.created`, `schedule.updated`, `schedule.deleted`, `schedule.run_asked`, `schedule.ran`, `schedule.failed`, `schedule.missed`, `hook.created`, `hook.removed`, `hook.received`, `hook.answered`, `hook.failed`, `hook.skipped`, `connection.put`, `connection.removed`, `connection.connected`, `connection.consent_needed`, `connection.answer_refused`, `confirmation.requested`, `confirmation.decided`, `confirmation.expired`, `confirmation.done`, `skill.created`, `skill.version_added`, `skill.deleted`, `agent.skill_put`, `agent.skill_removed`, `browser.control_taken`, `browser.control_released`, `snapshot.created`, `snapshot.failed`, `snapshot.updated`, `snapshot.deleted`, `snapshot.damaged`. */
  type: string;
  created_at: string;
  /** The agent that it is about. */
  agent_id: string | null;
  /** Further facts, by the type; never a secret. */
  data: Record<string, unknown>;
}

export interface EventList {
  object: 'list';
  data: LodgeEvent[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export type EventStreamEvent = {
  event?: 'message';
  data: LodgeEvent;
  id: string;
} | {
  event: 'error';
  data: ErrorBody;
};

export interface ExecRequest {
  /** A line for the shell (`bash -c`). Either this or `argv`. */
  command?: string | undefined;
  /** A program and its arguments, without a shell. Either this or `command`. */
  argv?: readonly string[] | undefined;
  /** Folder to run in; a relative one is within the workspace, which is the default. */
  cwd?: string | undefined;
  /** Variables, beside those that every command has. */
  env?: Record<string, string> | undefined;
  /** Whom the command runs as: the agent’s own user, or `root` of its machine, which is written to the audit log and counts among the key’s changes, too. */
  user?: 'agent' | 'root' | undefined;
  /** What the command reads. */
  stdin?: string | undefined;
  /** Then it is killed with all that it has started. */
  timeout_seconds?: number | undefined;
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
}

export interface ExecResult {
  object: 'exec';
  /** Null where a signal ended it. */
  exit_code: number | null;
  signal: string | null;
  timed_out: boolean;
  /** There was more output than is given. */
  truncated: boolean;
  duration_ms: number;
  /** Up to 1 MiB, as UTF-8. */
  stdout: string;
  /** Up to 1 MiB, as UTF-8. */
  stderr: string;
}

export type ExecStreamEvent = {
  event: 'stdout';
  data: {
    text: string;
  };
} | {
  event: 'stderr';
  data: {
    text: string;
  };
} | {
  event: 'exit';
  data: {
    object: 'exec';
    /** Null where a signal ended it. */
    exit_code: number | null;
    signal: string | null;
    timed_out: boolean;
    /** There was more output than is given. */
    truncated: boolean;
    duration_ms: number;
  };
} | {
  event: 'error';
  data: ErrorBody;
};

export interface ExportAgent {
  /** A snapshot of this agent, by its id or by `before_last_turn`. Without it the agent is exported as it is. */
  snapshot?: string | undefined;
  /** Seals the file: nobody opens it without. Printable ASCII, 8 to 1,024 characters. Nobody keeps it. */
  passphrase?: string | undefined;
}

export interface AgentFile {
  object: 'file';
  /** Within the agent's workspace. */
  path: string;
  name: string;
  /** `symlink`: a link, shown as such in a list; reading and writing follow it within the workspace. */
  type: 'file' | 'directory' | 'symlink' | 'other';
  /** Bytes. */
  size: number;
  /** Permissions in octal. */
  mode: string;
  modified_at: string;
  /** As in the header ETag: another one whenever the contents may be others. */
  etag: string;
  /** Where a link points; null for anything else. */
  target: string | null;
}

export interface FileChange {
  /** Within the workspace. */
  path: string;
  /** On the way from the snapshot to the other side. A folder does not change. */
  change: 'added' | 'removed' | 'changed';
  /** Bytes after the change, or before it if it was removed. */
  size: number;
}

export interface FileDeleted {
  object: 'file.deleted';
  /** Within the agent's workspace. */
  path: string;
  deleted: true;
}

export interface FileList {
  object: 'list';
  data: AgentFile[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export interface Fingerprint {
  object: 'fingerprint';
  for: 'llm_key' | 'channel' | 'connection' | 'hook';
  /** Of this kind and value, in this account, by a key of the server. */
  fingerprint: string;
}

export interface FingerprintList {
  object: 'list';
  data: Fingerprint[];
  has_more: false;
  next_cursor: null;
}

export interface FingerprintSecrets {
  values: readonly {
    /** The kind of the secret. Another kind has another fingerprint. */
    for: 'llm_key' | 'channel' | 'connection' | 'hook';
    /** The secret. It is neither kept nor logged. */
    value: string;
  }[];
}

export interface FinishUpload {
  /** Where the file goes in the workspace; no `.` and `..`. */
  path: string;
  /** Bytes of the whole file. If others have come, nothing is done and 409 says so. */
  size: number;
}

export interface Fork {
  object: 'fork';
  /** Id of the snapshot that they begin from. One that was made for them is kept for a week. */
  snapshot: string;
  /** The forks. Each stands alone: one may be in `error` beside others. */
  data: Agent[];
}

export interface ForkAgent {
  /** Display name; of several forks each has its number behind it. By default `<name of the parent> fork <number>`. */
  name?: string | undefined;
  /** How many forks are made. */
  count?: number | undefined;
  /** A snapshot of the agent to begin from. Without it the agent is saved as it is. */
  snapshot?: string | undefined;
  /** Further parts of the parent that the forks get: `schedules`, all disabled, with answers to no channel; `connections`, without what OAuth granted; published `ports`; the profile of its `browser`, with its logins. Nothing of these by default. */
  include?: readonly ('schedules' | 'connections' | 'ports' | 'browser')[] | undefined;
  /** Whether they get the parent's keys of LLM providers. */
  llm_keys?: 'copy' | 'none' | undefined;
  /** `<provider>/<model_name>` for runtime_a, bare `<model_name>` for runtime_b; null: the deployment chooses. */
  model?: string | null | undefined;
  /** Free text; only a label. */
  description?: string | null | undefined;
  /** Taken by the running machine where it can be; else with the next start. Null: `medium`. */
  size?: 'small' | 'medium' | 'large' | 'xlarge' | null | undefined;
  /** Another name for `size`. */
  machine_size?: 'small' | 'medium' | 'large' | 'xlarge' | null | undefined;
  /** Fields that are left out stay as they are; null resets a field, or all of them. */
  lifecycle?: {
    /** Idle for this long, a running agent is paused; 0 is never. */
    idle_timeout_seconds?: number | null | undefined;
    /** Paused for this long, an agent is stopped. */
    stop_after_seconds?: number | null | undefined;
    /** `auto`: an idle agent sleeps. `always`: it does not. */
    keep_awake?: 'auto' | 'always' | null | undefined;
    /** A request wakes a paused agent. */
    auto_resume?: boolean | null | undefined;
    /** A request starts a stopped agent. */
    auto_start?: boolean | null | undefined;
    /** A message on a channel wakes the agent. */
    wake_on_message?: boolean | null | undefined;
  } | null | undefined;
  /** Pairs to set or, with null, to remove; others stay. Null removes all. */
  labels?: Record<string, string | null> | null | undefined;
  /** Pairs to set or, with null, to remove; others stay. Null removes all. */
  metadata?: Record<string, string | null> | null | undefined;
  /** Replaces all variables; null: none. */
  env?: Record<string, string> | null | undefined;
  /** Replaces all three lists; what is no longer in one is removed. Null: none. */
  packages?: {
    /** Packages of Debian's, each with an optional version: `<name>` or `<name>=<version>`. */
    apt?: readonly string[] | undefined;
    /** Python packages: `<name>` or `<name>==<version>`. */
    pip?: readonly string[] | undefined;
    /** npm packages, for their commands: `<name>` or `<name>@<version>`. */
    npm?: readonly string[] | undefined;
  } | null | undefined;
  /** Replaces the rules as a whole; null: every public address. */
  egress?: {
    /** `public`: every public address. `allowlist`: what `allow` names and nothing else. `none`: nothing. The model broker is reached in each. */
    mode?: 'public' | 'allowlist' | 'none' | undefined;
    /** Names, `*.name` for every name below one (of at least two parts), and public IPv4 addresses or blocks of /8 to /32. Only with `allowlist`. Kept in lower case and in ASCII, an address as a block. */
    allow?: readonly string[] | undefined;
  } | null | undefined;
  /** Models that the agent may call beside its own and its members', each as `<provider>/<model_name>` whatever its runtime. Null: any of the providers that it has a key for; under a spend limit, any with a known price. Replaces the list. */
  models?: readonly string[] | null | undefined;
  /** Ids of agents of the account that it may ask with its tool `ask_agent`; `*` for all. Replaces the list; null: none. */
  peers?: readonly string[] | null | undefined;
  /** Replaces the plan as a whole: what is left out has its default. Null: no snapshots are made by themselves. */
  snapshots?: {
    /** One after so many turns, once the agent is quiet; null: turns do not count. */
    every_turns?: number | null | undefined;
    /** One when this time has passed since the last snapshot, once the agent is quiet and had a turn: minutes, hours or days, from `5m` to `366d`; null: time does not count. */
    every?: string | null | undefined;
    /** Most automatic ones; the oldest go first. */
    keep?: number | undefined;
    /** Days after which an automatic one is deleted. */
    keep_days?: number | undefined;
  } | null | undefined;
  /** Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its identity. Null, or nothing but white space: none. */
  instructions?: string | null | undefined;
  /** Whether it has a browser in its machine. It needs room: runtime_a from the size `medium` on, runtime_b from the size `small` on. */
  browser?: boolean | null | undefined;
  /** For runtime_b alone. */
  dashboard?: boolean | null | undefined;
  spend_limit?: SpendLimitInput | null | undefined;
  /** Replaces the parent's rules as a whole, with no `deliver`, as forks have no channels. Null: none. */
  confirmations?: {
    /** The first one that fits counts. */
    rules: readonly {
      /** `connection:<name>`, `tool:<name>` for a tool of Lodge, `messages`, `schedules`, `packages` or `command`. */
      on: string;
      /** A pattern with `*` for any characters. For an `http` connection it is about the method and the path, without the query; for an `mcp` connection about the name of the tool; for a tool of Lodge about its name or the JSON of its arguments. A rule that restricts ignores case, and a slash at the end. */
      match?: string | undefined;
      /** `ask`: the call waits for a yes. */
      policy: 'allow' | 'ask' | 'deny';
    }[];
    /** The policy for every other call by a connection, and for tools of Lodge that change something. */
    default?: 'allow' | 'ask' | 'deny' | undefined;
    /** Conversations in which the owner is asked. */
    deliver?: readonly {
      channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email';
      /** The id of a conversation that wrote to the agent there. */
      conversation: string;
    }[] | undefined;
    /** Ids of senders on channels who may decide there, each alone or behind the name of its channel. Nobody else can. */
    deciders?: readonly string[] | undefined;
    /** Time until an undecided confirmation is closed, of 5 minutes to 30 days. */
    expires?: string | undefined;
  } | null | undefined;
}

/** The snapshot that it was made from, the agent that this is of, and when it was saved. Either may be gone by now. */
export interface ForkedFrom {
  agent_id: string;
  snapshot_id: string;
  at: string;
}

export interface Grant {
  id: string;
  /** As the program calls itself. */
  client_name: string;
  /** Host, or scheme of a program, that got the answer. */
  redirect_host: string;
  scopes: ('agents:read' | 'agents:write' | 'agents:delete' | 'usage:read' | 'agents:chat' | 'keys:write')[];
  created_at: string;
  last_used_at: string | null;
  /** When it ends unless the program renews it. */
  expires_at: string;
}

export interface GrantList {
  data: Grant[];
}

export interface Health {
  /** `starting`: the API answers, but agents cannot be started yet. */
  status: 'ok' | 'starting';
  /** What the start is doing. */
  step: string | null;
  /** Version of the service. */
  version: string;
}

export interface Hook {
  object: 'hook';
  id: string;
  agent_id: string;
  name: string;
  /** The end of the hook's token. */
  last4: string;
  /** What the agent is told, with fields of the JSON by their paths, such as `{{issue.title}}`; `{{list.0}}` is the first of a list. Each is put in as JSON on one line, in at most 4 KiB, all together in 16 KiB. Without a template the agent gets the whole JSON, in at most 16 KiB. */
  template?: string;
  /** The agent's conversation that the messages go on with, as `user` names it in a chat. Without it the hook has one of its own. */
  conversation?: string;
  deliver: {
    /** `none`: a line of it is in the agent's log. `channel`: it is said in a conversation. `webhook`: the event `hook.answered` has it. */
    to: 'none' | 'channel' | 'webhook';
    /** With `to: "channel"`. */
    channel?: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email';
    /** With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET /v1/agents/:id/messages` shows it. */
    conversation?: string;
  };
  signature?: {
    /** `github`: `X-Hub-Signature-256`. `stripe`: `Stripe-Signature`, at most 5 minutes old. `standard`: Standard Webhooks. `hmac`: HMAC-SHA256 of the body in a header of your own. */
    type: 'github' | 'stripe' | 'standard' | 'hmac';
    /** With type `hmac`: the header of the signature. */
    header?: string;
    /** With type `hmac`. */
    encoding?: 'hex' | 'base64';
    /** With type `hmac`: what stands before the signature, such as `sha256=`. */
    prefix?: string;
    secret: {
      set: true;
      last4: string;
      /** Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes it; null: the secret cannot be opened. */
      fingerprint: string | null;
    };
  };
  created_at: string;
}

export interface HookList {
  object: 'list';
  data: Hook[];
  has_more: false;
  next_cursor: null;
}

export interface HookMessage {
  object: 'hook_message';
  id: string;
  hook_id: string;
  /** `skipped`: the agent did not run, and its `lifecycle.wake_on_message` is false. `failed`: it has failed for good, or its answer did not get where it belongs. */
  state: 'received' | 'answering' | 'answered' | 'failed' | 'skipped';
  /** How often its turn was begun; after a failure it is tried again up to two times. */
  attempts: number;
  /** Why it is not `answered`, or what came of the attempt before. */
  reason: string | null;
  received_at: string;
  started_at: string | null;
  ended_at: string | null;
}

export interface HookMessageList {
  object: 'list';
  data: HookMessage[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export interface HookReceipt {
  object: 'hook_receipt';
  /** Null: the request only asked whether the hook is there. */
  message_id: string | null;
  /** The delivery came before: it is the same message. */
  repeated: boolean;
}

export interface Host {
  object: 'host';
  looked_at: string;
  /** Null while the host does not answer. */
  memory: {
    total_mib: number;
    available_mib: number;
    /** Held by the machines that were read. */
    agents_mib: number | null;
  } | null;
  /** Null while the host does not answer. */
  disk: {
    /** Of the file system of the disks of agents. */
    total_mib: number;
    free_mib: number;
    /** Held by disks and saved memory of agents. */
    agents_mib: number | null;
  } | null;
  /** Null while the host does not answer. */
  agents: {
    /** Of all people. */
    total: number;
    by_status: {
      status: 'provisioning' | 'running' | 'paused' | 'stopped' | 'error';
      count: number;
    }[];
    /** Awake machines whose memory was not read. */
    unread: number;
    /** Those that hold the most, first. */
    top: {
      id: string;
      /** Null for an agent of another person's. */
      name: string | null;
      account_id: string;
      status: 'provisioning' | 'running' | 'paused' | 'stopped' | 'error';
      /** Share of the memory of the host; null when it was not read. */
      memory_mib: number | null;
      disk_mib: number;
      /** Saved memory of a stopped agent. */
      snapshot_mib: number;
    }[];
  } | null;
  templates: {
    runtime: string;
    /** `early`: agents are made from it, and it is still warmed up. */
    state: 'building' | 'early' | 'ready' | 'failed';
    /** What is being done, or why it failed. */
    step: string;
    fraction: number | null;
    since: string;
  }[];
  versions: {
    lodge: string;
    runtimes: {
      runtime: string;
      /** Of new agents; null while its template is made. */
      current: string | null;
      /** The one that an upgrade brings. */
      newest: string | null;
      /** Agents that an upgrade would bring something. */
      outdated_agents: number;
    }[];
  };
  /** What the checks of `doctor` found that is not in order, worst first. Null: not looked at yet. */
  findings: {
    name: string;
    /** `fail`: it must not stay so. `warn`: something is weak. `note`: there is something to know. */
    state: 'fail' | 'warn' | 'note';
    detail: string;
    advice: string | null;
  }[] | null;
  /** Checks that only `doctor` as root can make. */
  unseen: string[];
  backups: {
    /** Where they are made by themselves; null: nobody set a place. */
    place: string | null;
    /** Of the day, in UTC. */
    times: string[];
    /** The last whole backup. */
    last: {
      made_at: string;
      place: string;
      name: string;
    } | null;
    /** False: only root may read the note of the last one. */
    is_known: boolean;
  } | null;
}

export interface ImportedAgent {
  object: 'agent';
  id: string;
  name: string;
  description: string | null;
  /** Who the agent is and how it works. */
  instructions: string | null;
  /** Whether the machine has yet to take over instructions, members, dashboard, browser, egress, variables, skills or packages as they are now: within seconds while it runs, packages within minutes, else at its next start. */
  settings_pending: boolean;
  status: 'provisioning' | 'running' | 'paused' | 'stopped' | 'error';
  /** Why the agent is in its status; always set in `error`. */
  status_reason: {
    code: string;
    message: string;
    at: string;
  } | null;
  /** The change of the machine that is under way; null when none is. A snapshot changes nothing; going back to one counts as a restart. */
  transition: {
    kind: 'start' | 'resume' | 'pause' | 'stop' | 'restart' | 'upgrade';
    started_at: string;
  } | null;
  runtime_kind: 'runtime_a' | 'runtime_b';
  /** What runs in the VM, in the version that it has there; null when this deployment does not offer it. */
  runtime: {
    name: string;
    version: string;
  } | null;
  /** A newer image is ready than the one the agent was made from: `POST /v1/agents/:id/upgrade` moves it. */
  upgrade_available: boolean;
  model: string;
  /** The size asked for. */
  size: 'small' | 'medium' | 'large' | 'xlarge';
  machine: Machine;
  disk: Disk;
  url: string;
  dashboard_url: string | null;
  /** Whether it has a browser in its machine. */
  browser: boolean;
  llm_keys: {
    provider: string;
    /** The last four characters of the key. */
    last4: string;
    /** Compare it with that of a secret at hand, from `POST /v1/fingerprints`. A change of the master key changes it; null: the secret cannot be opened. */
    fingerprint: string | null;
    created_at: string;
  }[];
  channels: {
    channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail';
    status: 'not_configured' | 'pending_pairing' | 'connecting' | 'connected' | 'disconnected' | 'error' | 'disabled';
  }[];
  lifecycle: Lifecycle;
  spend_limit: SpendLimit | null;
  egress: Egress;
  /** Plain variables of the commands, terminals and tools in the agent’s machine, by name. */
  env: Record<string, string>;
  packages: Packages;
  /** Why the packages are not installed; null while nothing has failed. It is tried again. */
  packages_error: string | null;
  confirmations: ConfirmationRules | null;
  /** Models that it may call beside its own and its members'; null: any. */
  models: string[] | null;
  /** Ids of agents that it may ask with its tool `ask_agent`; `*` for all of the account. */
  peers: string[];
  snapshots: SnapshotPlan;
  forked_from: ForkedFrom | null;
  /** Up to 50 short pairs to select by: `label[team]=support` in a list. Notes of your own are `metadata`. */
  labels: Record<string, string>;
  /** Up to 50 pairs of strings: your own notes. What lists are to select by are `labels`. */
  metadata: Record<string, string>;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  paused_at: string | null;
  stopped_at: string | null;
  last_active_at: string | null;
  import: {
    /** Things that the exported agent had and that no export has: keys, tokens and grants, and what needs them. */
    missing: {
      kind: 'llm_key' | 'channel' | 'connection' | 'hook' | 'port' | 'skill' | 'peer' | 'confirmation_rule' | 'confirmation_delivery' | 'schedule' | 'schedule_delivery' | 'file';
      /** Its name, provider, channel or path. */
      name: string;
    }[];
  };
}

export interface Invitation {
  id: string;
  email: string | null;
  role: 'owner' | 'member' | 'viewer';
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
}

export interface InvitationList {
  data: Invitation[];
}

export interface JoinByLink {
  token: string;
  email: string;
  name: string;
  password: string;
}

export interface Lifecycle {
  /** Idle for this long, a running agent is paused; 0 is never. */
  idle_timeout_seconds: number;
  /** Paused for this long, an agent is stopped. */
  stop_after_seconds: number;
  /** `auto`: an idle agent sleeps. `always`: it does not. */
  keep_awake: 'auto' | 'always';
  /** A request wakes a paused agent. */
  auto_resume: boolean;
  /** A request starts a stopped agent. */
  auto_start: boolean;
  /** A message on a channel wakes the agent. */
  wake_on_message: boolean;
}

export interface Limits {
  object: 'limits';
  quotas: {
    /** Agents of the account. */
    agents: {
      limit: number;
      used: number;
    };
    /** Those that run or are on their way to it; paused ones do not count. */
    running_agents: {
      limit: number;
      used: number;
    };
  };
  snapshots: {
    /** Most snapshots of an agent. */
    per_agent: number;
    /** Most gibibytes that all of them hold. */
    limit_gb: number;
    used_gb: number;
  };
  rates: {
    /** GET and HEAD, per key. */
    reads: {
      /** Also the most at once after a pause. */
      per_minute: number;
    };
    /** Other methods, per key. */
    writes: {
      /** Also the most at once after a pause. */
      per_minute: number;
    };
    /** `POST /v1/agents`, per key. */
    creates: {
      per_minute: number;
      at_once: number;
    };
    /** Chat, exec and files, per key. */
    calls: {
      /** Also the most at once after a pause. */
      per_minute: number;
    };
    /** Requests without a valid key, per address. */
    without_key: {
      /** Also the most at once after a pause. */
      per_minute: number;
    };
  };
  /** Null for a key without the scope `usage:read`. */
  spend: {
    /** Model calls of all agents of the account, this day (UTC). */
    daily: {
      /** US dollars; null: no limit. */
      limit_usd: string | null;
      /** Calls that have ended and whose model has a known price. */
      spent_usd: string;
      resets_at: string;
    };
    /** Model calls of all agents of the account, this month (UTC). */
    monthly: {
      /** US dollars; null: no limit. */
      limit_usd: string | null;
      /** Calls that have ended and whose model has a known price. */
      spent_usd: string;
      resets_at: string;
    };
    /** `block`: once it is reached, model calls are refused until the window ends. `pause`: the agent is put to sleep as well, and no message wakes it before. */
    action: 'block' | 'pause' | null;
    agent_default: SpendLimit | null;
  } | null;
  /** Largest request bodies. */
  sizes: {
    json_body_bytes: number;
    file_bytes: number;
  };
}

export interface Link {
  object: 'link';
  /** Opens the page in a browser, once. Whoever has it can: hand it to nobody else. */
  url: string;
  expires_at: string;
}

export interface LlmCall {
  object: 'llm_call';
  id: string;
  started_at: string;
  provider: string;
  model: string;
  /** Which API of the provider. Null in calls from before it was kept. */
  api: 'openai-completions' | 'openai-responses' | 'anthropic-messages' | 'google-generative-ai' | null;
  /** `refused`: it did not go out. `cancelled`: the agent gave it up. `interrupted`: the server ended in its midst, and the figures are those expected before it. */
  outcome: 'ok' | 'provider_error' | 'cancelled' | 'unreachable' | 'refused' | 'interrupted';
  /** HTTP status of the provider's answer; null when none came. */
  status: number | null;
  duration_ms: number | null;
  time_to_first_byte_ms: number | null;
  /** Without cached ones. */
  input_tokens: number | null;
  /** With reasoning. */
  output_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
  /** Part of the output, where the provider tells. */
  reasoning_tokens: number | null;
  /** Nobody told all tokens; they are estimated. */
  estimated: boolean;
  /** US dollars, as decimal text. Null: the model has no known price. */
  cost: string | null;
  /** Which price list it is by. */
  price_version: string | null;
}

export interface LlmCallDetail {
  object: 'llm_call';
  id: string;
  started_at: string;
  provider: string;
  model: string;
  /** Which API of the provider. Null in calls from before it was kept. */
  api: 'openai-completions' | 'openai-responses' | 'anthropic-messages' | 'google-generative-ai' | null;
  /** `refused`: it did not go out. `cancelled`: the agent gave it up. `interrupted`: the server ended in its midst, and the figures are those expected before it. */
  outcome: 'ok' | 'provider_error' | 'cancelled' | 'unreachable' | 'refused' | 'interrupted';
  /** HTTP status of the provider's answer; null when none came. */
  status: number | null;
  duration_ms: number | null;
  time_to_first_byte_ms: number | null;
  /** Without cached ones. */
  input_tokens: number | null;
  /** With reasoning. */
  output_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
  /** Part of the output, where the provider tells. */
  reasoning_tokens: number | null;
  /** Nobody told all tokens; they are estimated. */
  estimated: boolean;
  /** US dollars, as decimal text. Null: the model has no known price. */
  cost: string | null;
  /** Which price list it is by. */
  price_version: string | null;
  /** What was said. Null unless the account recorded its model calls then; deleted after some days (a setting of the deployment), and with the agent. */
  content: {
    /** The body that the agent sent, without headers. Null when none was read. */
    request: string | null;
    /** The body that the provider answered; of a stream its events, as they came. Null when nothing whole came. */
    response: string | null;
    /** One of them was longer than the 256 KiB that are kept of each. */
    truncated: boolean;
  } | null;
}

export interface LlmCallList {
  object: 'list';
  data: LlmCall[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export interface LlmKeyCheck {
  object: 'llm_key_check';
  provider: string;
  /** The key's last characters; empty for a short one. */
  last4: string;
  /** Null where that could not be told. */
  works: boolean | null;
  /** One sentence. */
  message: string;
}

export interface LlmKeyChecks {
  object: 'list';
  data: LlmKeyCheck[];
  has_more: false;
  next_cursor: null;
}

export interface LogEntry {
  /** Rises with time, within one agent. */
  id: string;
  timestamp: string;
  level: 'debug' | 'info' | 'warn' | 'error';
  /** `system`: what Lodge did with the agent and why. `console`: the machine's console. `gateway`: the runtime's own log. */
  source: 'system' | 'console' | 'gateway' | 'channel' | 'egress';
  message: string;
}

export interface LogList {
  object: 'list';
  data: LogEntry[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export type LogStreamEvent = {
  event?: 'message';
  data: LogEntry;
  id: string;
} | {
  event: 'error';
  data: ErrorBody;
};

/** The machine as it is. Where it is not what `size` says, the new size is taken with the next start. */
export interface Machine {
  vcpus: number;
  memory_mb: number;
  disk_gb: number;
}

export interface McpAnswer {
  jsonrpc: '2.0';
  /** The request's. */
  id?: string | number;
  /** What the method gives. */
  result?: Record<string, unknown>;
  /** Of a method that failed. */
  error?: {
    code: number;
    message: string;
    [name: string]: unknown;
  };
}

export interface McpMessage {
  jsonrpc: '2.0';
  /** Of a request. A message without it is a notification. */
  id?: string | number | undefined;
  method?: string | undefined;
  /** The method's own parameters. */
  params?: {
    _meta?: {
      /** Asks for `notifications/progress`. */
      progressToken?: string | number | undefined;
      [name: string]: unknown;
    } | undefined;
    [name: string]: unknown;
  } | undefined;
  /** Answers a question of the server, which asks none. */
  result?: Record<string, unknown> | undefined;
  /** Of a method that failed. */
  error?: {
    code: number;
    message: string;
    [name: string]: unknown;
  } | undefined;
}

export type McpStreamEvent = {
  event?: 'message';
  data: McpAnswer;
} | {
  event?: 'message';
  data: {
    jsonrpc: '2.0';
    method: string;
    params?: Record<string, unknown>;
  };
};

export interface Model {
  /** The agent's id, or `<agent id>/<member>`. */
  id: string;
  object: 'model';
  /** Seconds since 1970. */
  created: number;
  owned_by: 'lodge';
  /** The agent's name, or the member's. */
  name: string;
}

export interface ModelChat {
  /** OpenAI's messages. With `user` set, only the new message is needed. */
  messages: readonly ChatMessage[];
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
  /** Options of an answer that streams. */
  stream_options?: {
    /** OpenAI's: a last chunk has the usage. */
    include_usage?: boolean | null | undefined;
    /** Further chunks, without choices, tell what tools the agent works with (`step`). */
    include_steps?: boolean | null | undefined;
    [name: string]: unknown;
  } | null | undefined;
  /** Names a conversation that the agent remembers. The header X-Conversation-Id does the same. */
  user?: string | null | undefined;
  /** The agent's id, or `<agent id>/<member>`. */
  model: string;
  [name: string]: unknown;
}

export interface ModelList {
  object: 'list';
  data: Model[];
}

export interface ModelResponseRequest {
  /** OpenAI's input: a text, or items. In a conversation that goes on only the new ones are needed. */
  input: string | readonly ResponseItem[];
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
  /** Names a conversation that the agent remembers. The header X-Conversation-Id does the same. */
  user?: string | null | undefined;
  /** Goes on with the conversation of that response, which must be one of the same agent or member; wins over `user`. The conversation goes on where it is by now. */
  previous_response_id?: string | null | undefined;
  /** The agent's id, or `<agent id>/<member>`. */
  model: string;
  [name: string]: unknown;
}

export interface OAuthClient {
  client_id: string;
  /** Seconds since 1970. */
  client_id_issued_at: number;
  client_name: string;
  redirect_uris: string[];
  grant_types: string[];
  response_types: string[];
  /** Clients have no secret. */
  token_endpoint_auth_method: 'none';
}

export interface OAuthError {
  error: string;
  error_description: string;
}

export interface OAuthSession {
  object: 'oauth_session';
  id: string;
  channel: 'gmail';
  status: 'pending';
  /** Open it in the browser of the mailbox's owner. */
  authorization_url: string;
  state: string;
  expires_at: string;
}

export interface OfferedModel {
  /** The provider's own name of it. */
  id: string;
  /** Tokens it takes in. */
  context_window: number | null;
  /** The operator's own; they go before the known ones. */
  prices: {
    /** US dollars for a million tokens in. */
    input: string;
    /** US dollars for a million tokens out. */
    output: string;
    /** US dollars for a million tokens read from a cache. */
    cache_read: string | null;
    /** US dollars for a million tokens written to a cache. */
    cache_write: string | null;
  } | null;
}

/** Packages that root installs in the agent's machine beside the programs of its image. */
export interface Packages {
  /** Packages of Debian's, each with an optional version: `<name>` or `<name>=<version>`. */
  apt: string[];
  /** Python packages: `<name>` or `<name>==<version>`. */
  pip: string[];
  /** npm packages, for their commands: `<name>` or `<name>@<version>`. */
  npm: string[];
}

/** Nothing: a code to scan is asked for. */
export interface PairWhatsApp {
  /** With its country: a code to type in on the phone is asked for instead of one to scan. */
  phone_number?: string | undefined;
}

export interface Pairing {
  object: 'pairing';
  channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail';
  status: 'pending' | 'connected' | 'expired' | 'failed';
  reason: ChannelReason | null;
  /** What the code to scan says; null while there is none. */
  qr: string | null;
  /** The code to scan as a picture, a data URL. */
  qr_png: string | null;
  /** The code to type in on the phone. */
  pairing_code: string | null;
  expires_at: string | null;
  /** Rises with each code. */
  attempt: number;
}

export interface PairingStreamEvent {
  event: 'pairing';
  data: Pairing;
}

export interface Person {
  id: string;
  name: string;
  email: string | null;
  role: 'owner' | 'member' | 'viewer';
  created_at: string;
  agents: number;
  spend_limit: SpendLimit | null;
}

export interface PersonList {
  data: Person[];
}

export interface PersonalAccount {
  object: 'account';
  id: string;
  name: string;
  /** Whether what is said in model calls of its agents is kept for some days, for every key with the scope `usage:read`. False by default. */
  record_llm_calls: boolean;
  created_at: string;
  /** Null until somebody has made the account theirs. */
  email: string | null;
  role: 'owner' | 'member' | 'viewer';
  /** Whether signing in takes a second factor. */
  totp_enabled: boolean;
}

export interface Port {
  object: 'port';
  port: number;
  /** True: anyone who knows the address reaches it. */
  public: boolean;
  url: string;
  created_at: string;
}

export interface PortList {
  object: 'list';
  data: Port[];
  has_more: false;
  next_cursor: null;
}

export interface Provider {
  object: 'provider';
  id: string;
  name: string;
  /** Where its first API is; null for those the operator added. */
  base_url: string | null;
  /** The APIs it speaks; runtimes use the first where they can. */
  apis: ('openai-completions' | 'openai-responses' | 'anthropic-messages' | 'google-generative-ai')[];
  /** Request header that carries its key. */
  key_header: string;
  /** False for servers that take no key. */
  needs_key: boolean;
  /** Whether its keys can be checked without being used. */
  key_check: boolean;
  /** Where its models and keys are explained. */
  docs_url: string | null;
  /** Models the operator has described; others can be used too. */
  models: OfferedModel[];
  /** False for those the operator added. */
  built_in: boolean;
}

export interface ProviderList {
  object: 'list';
  data: Provider[];
  has_more: false;
  next_cursor: null;
}

export interface PublishPort {
  /** A port that a server in the agent's machine listens on. */
  port: number;
  /** False: an API key or a link is asked for, as at the agent's own address. True: nothing is. */
  public?: boolean | undefined;
}

/** An agent may have 50 skills. */
export interface PutAgentSkill {
  /** The library's skill, by its id or its name. Its name must be that of the path; by default it is found by that. */
  skill?: string | undefined;
  /** A version, or `latest`: then the agent has each new version as soon as it is in the library. */
  version?: number | 'latest' | undefined;
  /** False: kept, and not in the machine. */
  enabled?: boolean | undefined;
  /** Names of the members that have it, and null for the agent itself. Null instead of a list: the agent and all its members, those to come too. */
  members?: readonly (string | null)[] | null | undefined;
}

/** `slack` needs `appToken` and `botToken`, `discord` and `telegram` need `botToken`; `whatsapp` and `gmail` take no secret: they are paired. */
export interface PutChannel {
  /** For Socket Mode. Left out, the stored one stays. */
  appToken?: string | undefined;
  /** Kept encrypted, never given back. Left out, the stored one stays. */
  botToken?: string | undefined;
  /** False: kept, and not connected. */
  enabled?: boolean | undefined;
  /** Fields that are left out have their defaults: `pairing`, and groups by mention. */
  access?: {
    /** Who may write directly. `pairing`: somebody unknown gets a code that you approve. `allowlist`: `allow_from` alone. `open`: anybody. `disabled`: nobody. */
    mode?: 'pairing' | 'allowlist' | 'open' | 'disabled' | undefined;
    allow_from?: readonly string[] | undefined;
    /** Messages of one sender in an hour that are answered; more are refused. */
    per_sender_hourly?: number | undefined;
    groups?: {
      /** `allowlist`: in the groups of `allow`, and to those who may write directly. `open`: in any. `disabled`: in none. */
      mode?: 'allowlist' | 'open' | 'disabled' | undefined;
      allow?: readonly string[] | undefined;
      /** False: it answers what does not address it, too. */
      require_mention?: boolean | undefined;
    } | undefined;
  } | undefined;
}

export interface PutConnection {
  /** `mcp`: a server of the Model Context Protocol over streamable HTTP; the agent has its tools. `http`: any HTTP service; the agent sends it requests, as far as `allow` goes. `host`: hosts that programs in the machine reach by https under their own names, with placeholders in the place of secrets. */
  kind: 'mcp' | 'http' | 'host';
  /** For `mcp` and `http`, where it is required. Without user, query and fragment. It must be `https`, unless the operator allows any address. */
  url?: string | undefined;
  /** For `host`: whole names of hosts, without wildcards. In the machine they lead to Lodge, and no others do. */
  hosts?: readonly string[] | undefined;
  /** For `host`: secrets by the names of variables, which hold placeholders in the machine. The host replaces a placeholder in the named headers alone; values are never given back. Left out, the stored ones stay; with further hosts they must be given again. */
  secrets?: Record<string, {
    value: string;
    /** Headers in which the placeholder is replaced, and no others. */
    in: readonly string[];
  }> | undefined;
  /** Added by the host to each request, and never given back. Left out, the stored ones stay; with another `url` they must be given again. */
  headers?: Record<string, string> | undefined;
  /** For `http` and `host`: what may be asked. Nothing else is, and one entry must name both the method and the path. */
  allow?: readonly ConnectionAllow[] | undefined;
  /** For `mcp`: the tools that the agent has, by the server's names; null: all of them. */
  tools?: readonly string[] | null | undefined;
  auth?: PutConnectionAuth | null | undefined;
  /** False: kept, and not used. */
  enabled?: boolean | undefined;
}

/** Access by OAuth, with a consent that begins at `…/oauth/start`. A server of `mcp` names its authorization server; for `http` and `host` you name it, and give a client. Left out, what is stored stays; null takes it away. Another `url`, a further host, another client, authorization server or scope needs another consent. */
export interface PutConnectionAuth {
  kind: 'oauth';
  /** A client that you made at the authorization server, which `http` and `host` need; null: one is registered with each consent. */
  client_id?: string | null | undefined;
  /** The client's secret, never given back. Left out, the stored one of the same client stays. */
  client_secret?: string | null | undefined;
  /** What is asked for; null: what the server names. */
  scope?: string | null | undefined;
  /** For `http` and `host`: where the authorization server asks a person. Its query may have what that server wants beside OAuth, such as `access_type=offline`. */
  authorization_url?: string | null | undefined;
  /** For `http` and `host`: where the authorization server gives and renews access. A stored client secret goes to no other address. */
  token_url?: string | null | undefined;
  /** For `http` and `host`: how the client shows its secret, in a header or in the body; null: in a header. */
  client_auth?: 'client_secret_basic' | 'client_secret_post' | null | undefined;
}

export interface ReadAccountLink {
  token: string;
}

export interface ReadAuthorization {
  client_id: string;
  redirect_uri: string;
  response_type: string;
  code_challenge: string;
  code_challenge_method: string;
  scope?: string | null | undefined;
  state?: string | null | undefined;
  resource?: string | null | undefined;
}

export interface ReadDeviceRequest {
  user_code: string;
}

export interface RecoveryCodes {
  recovery_codes: string[];
}

export interface Register {
  email: string;
  name: string;
  password: string;
}

export interface RegisterOAuthClient {
  /** https, http to the loopback with any port, or a scheme made from a domain's name. Answers go to exactly these. */
  redirect_uris: readonly string[];
  /** What the person reads, up to 100 characters. */
  client_name?: string | undefined;
}

export interface RemoveTotp {
  password: string;
  code: string;
}

export interface ResetPassword {
  token: string;
  password: string;
  code?: string | undefined;
}

/** OpenAI's input item. */
export interface ResponseItem {
  type?: string | undefined;
  role?: string | undefined;
  content?: string | readonly Record<string, unknown>[] | undefined;
  [name: string]: unknown;
}

/** OpenAI's output item. */
export interface ResponseOutput {
  type: string;
  id?: string;
  role?: string;
  status?: string;
  /** Of a message: its parts, where `{type: 'output_text', text}` is what was said. */
  content?: { type: string; text?: string; [name: string]: unknown }[];
  [name: string]: unknown;
}

export type ResponseStreamEvent = {
  event: 'error';
  data: {
    type: 'error';
    code: 'invalid_request' | 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'invalid_grant' | 'invalid_client' | 'invalid_redirect_uri' | 'invalid_target' | 'invalid_scope' | 'unsupported_grant_type' | 'invalid_json' | 'missing_api_key' | 'invalid_api_key' | 'revoked_api_key' | 'expired_api_key' | 'not_signed_in' | 'invalid_credentials' | 'second_factor_required' | 'invalid_code' | 'invalid_signature' | 'insufficient_scope' | 'csrf_refused' | 'owner_only' | 'registration_closed' | 'agent_not_found' | 'member_not_found' | 'port_not_found' | 'llm_call_not_found' | 'file_not_found' | 'link_not_valid' | 'session_not_found' | 'key_not_found' | 'device_code_not_found' | 'grant_not_found' | 'invitation_not_found' | 'account_not_found' | 'route_not_found' | 'method_not_allowed' | 'member_exists' | 'email_taken' | 'agent_not_running' | 'agent_transitioning' | 'agent_busy' | 'agent_not_resumable' | 'agent_outdated' | 'file_conflict' | 'disk_full' | 'idempotency_key_reused' | 'idempotency_in_progress' | 'precondition_failed' | 'request_too_large' | 'unsupported_media_type' | 'range_not_satisfiable' | 'rate_limit_exceeded' | 'spend_limit_exceeded' | 'loop_detected' | 'quota_exceeded' | 'internal_error' | 'provisioning_failed' | 'insufficient_capacity' | 'agent_unavailable' | 'browser_not_running' | 'channel_not_found' | 'message_not_found' | 'approval_not_found' | 'channel_conflict' | 'gmail_not_configured' | 'message_not_retryable' | 'schedule_not_found' | 'schedule_running' | 'hook_not_found' | 'confirmation_not_found' | 'confirmation_closed' | 'connection_not_found' | 'oauth_not_configured' | 'oauth_not_possible' | 'webhook_not_found' | 'delivery_not_found' | 'webhook_disabled' | 'skill_not_found' | 'skill_in_use' | 'skill_refused' | 'skill_source_failed' | 'snapshot_not_found' | 'snapshot_not_ready' | 'snapshot_damaged';
    message: string;
    param: null;
    sequence_number: number;
  };
} | {
  event: string;
  data: {
    type: string;
    sequence_number: number;
    [name: string]: unknown;
  };
};

export interface RestoreAgent {
  /** Id of a snapshot of this agent, or `before_last_turn`: the newest one that was saved before its last turn began. */
  snapshot: string;
  /** False: the present is not saved first. The turn in hand is cut off, and nothing comes back if the snapshot does not start. */
  save_present?: boolean | undefined;
  /** False: the disk of the snapshot is booted, without its memory. */
  memory?: boolean | undefined;
  /** Files and folders of the workspace. They alone are copied from the snapshot into the running agent, whose machine goes on; nothing else goes back. */
  paths?: readonly string[] | undefined;
}

export interface RevokeToken {
  /** An access or a refresh token. */
  token: string;
  client_id: string;
}

export interface RotateWebhookSecret {
  /** How long the present secret goes on signing beside the new one. */
  overlap_seconds?: number | undefined;
}

export interface Schedule {
  object: 'schedule';
  id: string;
  agent_id: string;
  name: string;
  /** False: no time comes. It can be run by hand. */
  enabled: boolean;
  /** Five fields: minute, hour, day of month, month, day of week, in `time_zone`. Where clocks go ahead, a time that does not come comes at the end of the gap; where they go back, a time that comes twice is taken once. An expression with `*` or a step among minutes and hours runs by elapsed time instead. */
  cron?: string;
  /** An interval of minutes, hours or days, from `1m` to `366d`; the first run is one interval from now. */
  every?: string;
  /** One time. */
  at?: string;
  /** A name of the time zone database. */
  time_zone: string;
  /** What the agent is told. A line before it says which schedule it is, and for when. */
  prompt: string;
  /** The agent's conversation that the runs go on with, as `user` names it in a chat. Without it the schedule has one of its own. */
  conversation?: string;
  deliver: {
    /** `none`: the answer stays in the run. `channel`: it is said in a conversation. `webhook`: the event `schedule.ran` has it. */
    to: 'none' | 'channel' | 'webhook';
    /** With `to: "channel"`. */
    channel?: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email';
    /** With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET /v1/agents/:id/messages` shows it. */
    conversation?: string;
  };
  /** False: an agent that does not run is left asleep, and the time is `skipped`. */
  wake: boolean;
  /** Null: it is not enabled, or its one time has passed. */
  next_run_at: string | null;
  /** The newest that is not `missed`; null: there was none. */
  last_run: {
    object: 'schedule_run';
    id: string;
    schedule_id: string;
    scheduled_for: string;
    started_at: string | null;
    ended_at: string | null;
    /** `missed`: the time passed while the service was down, or the run could not begin. `skipped`: the run before was not over, or the agent was asleep and `wake` is false. Null: it waits, or is under way. */
    status: 'ok' | 'failed' | 'missed' | 'skipped' | null;
    /** How often its turn was begun; after a failure it is tried again up to three times. */
    attempts: number;
    /** Decimal USD of the agent's model calls while the run was under way. Null: none of them had a known price. */
    cost: string | null;
    /** The first lines of the answer. */
    answer_preview: string | null;
    /** Why it is not `ok`, or what came of the attempt before. */
    error: string | null;
  } | null;
  created_at: string;
  updated_at: string;
}

export interface ScheduleList {
  object: 'list';
  data: Schedule[];
  has_more: false;
  next_cursor: null;
}

export interface ScheduleRun {
  object: 'schedule_run';
  id: string;
  schedule_id: string;
  scheduled_for: string;
  started_at: string | null;
  ended_at: string | null;
  /** `missed`: the time passed while the service was down, or the run could not begin. `skipped`: the run before was not over, or the agent was asleep and `wake` is false. Null: it waits, or is under way. */
  status: 'ok' | 'failed' | 'missed' | 'skipped' | null;
  /** How often its turn was begun; after a failure it is tried again up to three times. */
  attempts: number;
  /** Decimal USD of the agent's model calls while the run was under way. Null: none of them had a known price. */
  cost: string | null;
  /** The first lines of the answer. */
  answer_preview: string | null;
  /** Why it is not `ok`, or what came of the attempt before. */
  error: string | null;
}

export interface ScheduleRunList {
  object: 'list';
  data: ScheduleRun[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export interface SessionBody {
  session: {
    id: string;
    created_at: string;
    expires_at: string;
  };
  account: PersonalAccount;
  csrf_token: string;
}

export interface SessionList {
  data: SessionRecord[];
}

export interface SessionRecord {
  id: string;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  address: string;
  user_agent: string | null;
  /** Whether it is the one that asks. */
  current: boolean;
}

export interface SetSpendLimit {
  spend_limit: SpendLimitInput | null;
}

export interface SignIn {
  email: string;
  password: string;
  code?: string | undefined;
}

export interface Size {
  object: 'size';
  id: 'small' | 'medium' | 'large' | 'xlarge';
  vcpus: number;
  memory_mb: number;
  disk_gb: number;
  /** Taken when a create names none. */
  default: boolean;
}

export interface SizeList {
  object: 'list';
  data: Size[];
  has_more: false;
  next_cursor: null;
}

export interface Skill {
  object: 'skill';
  id: string;
  name: string;
  /** Counts from 1. A version never changes. */
  version: number;
  /** From its SKILL.md. */
  description: string;
  /** SHA-256 over the paths, modes and contents of its files, in hex. */
  digest: string;
  source: SkillSource;
  requires: SkillRequires;
  /** The findings of the review, the worst first, at most 32. */
  findings: SkillFinding[];
  /** The size of all its files. */
  bytes: number;
  /** How many files it has. */
  files: number;
  /** How many agents use it, in whatever version. */
  agents: number;
  created_at: string;
  updated_at: string;
}

export interface SkillDeleted {
  object: 'skill.deleted';
  id: string;
  deleted: true;
}

export interface SkillFinding {
  severity: 'low' | 'medium' | 'high';
  /** Further rules may come. */
  rule: 'download_to_shell' | 'encoded_payload' | 'hidden_characters' | 'executable' | 'nested_archive' | 'credential' | 'credential_file';
  file: string;
  /** Null: it is about the file as a whole. */
  line: number | null;
  /** For a person; not stable. */
  message: string;
}

export interface SkillList {
  object: 'list';
  data: Skill[];
  has_more: false;
  next_cursor: null;
}

/** Programs and variables that the skill says it needs, in the words of OpenClaw and Hermes. */
export interface SkillRequires {
  programs: string[];
  variables: string[];
}

export interface SkillSource {
  kind: 'upload' | 'git' | 'hub';
  /** The address of the repository. */
  url?: string;
  /** The branch, tag or commit that was asked for. */
  ref?: string;
  /** The skill's folder in the repository; empty: the repository itself. */
  path?: string;
  /** The commit that was fetched. */
  commit?: string;
  name?: 'clawhub' | 'skills.sh';
  /** Its name at the hub. */
  slug?: string;
  /** Its version at the hub, or the digest that the hub gives. */
  version?: string;
}

export interface SkillVersion {
  object: 'skill_version';
  id: string;
  skill_id: string;
  /** Counts from 1. A version never changes. */
  version: number;
  /** From its SKILL.md. */
  description: string;
  /** SHA-256 over the paths, modes and contents of its files, in hex. */
  digest: string;
  source: SkillSource;
  requires: SkillRequires;
  /** The findings of the review, the worst first, at most 32. */
  findings: SkillFinding[];
  /** The size of all its files. */
  bytes: number;
  files: {
    path: string;
    bytes: number;
    /** In hex. */
    sha256: string;
    executable: boolean;
  }[];
  created_at: string;
}

export interface SkillVersionList {
  object: 'list';
  data: SkillVersion[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export interface Snapshot {
  object: 'snapshot';
  id: string;
  agent_id: string;
  name: string | null;
  /** Free text. */
  note: string | null;
  /** `named`: somebody asked for it. `auto`: the agent has a plan for `snapshots`. The others were made by what they name. */
  kind: 'named' | 'auto' | 'fork' | 'before_restore' | 'before_upgrade';
  /** `failed`: it was not saved, and `error` says why. `damaged`: it is shown and never loaded. */
  status: 'saving' | 'ready' | 'failed' | 'damaged';
  /** Whether it has the memory of the machine, and not its disk alone. */
  memory: boolean;
  /** How an agent starts from it: `disk` where it has no memory, or this host cannot take it. */
  loads: 'memory' | 'disk';
  /** The software in the machine, in the version that it had there. */
  runtime: {
    name: string;
    version: string | null;
  };
  size: 'small' | 'medium' | 'large' | 'xlarge';
  /** Bytes of memory. */
  bytes: number;
  /** Bytes of its disk, which later snapshots may share. */
  disk_bytes: number;
  /** True: it outlives its agent. */
  pinned: boolean;
  /** It is deleted then; null: it is kept. */
  expires_at: string | null;
  /** The reason why it is not ready. */
  error: string | null;
  created_at: string;
}

export interface SnapshotDiff {
  object: 'list';
  /** By path; at most 1,000. */
  data: FileChange[];
  /** Whether the workspace has more in it than was looked at, or more differs than is shown. */
  truncated: boolean;
}

export interface SnapshotFile {
  object: 'snapshot.file';
  /** Within the workspace. */
  path: string;
  name: string;
  /** `symlink`: a link, shown as such. */
  type: 'file' | 'directory' | 'symlink' | 'other';
  /** Bytes. */
  size: number;
  modified_at: string;
}

export interface SnapshotFileList {
  object: 'list';
  data: SnapshotFile[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
  /** Whether the workspace has more in it than was looked at, or more differs than is shown. */
  truncated: boolean;
}

export interface SnapshotList {
  object: 'list';
  data: Snapshot[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

/** When snapshots of the agent are made by themselves, and how long those are kept. */
export interface SnapshotPlan {
  /** One after so many turns, once the agent is quiet; null: turns do not count. */
  every_turns: number | null;
  /** One when this time has passed since the last snapshot, once the agent is quiet and had a turn: minutes, hours or days, from `5m` to `366d`; null: time does not count. */
  every: string | null;
  /** Most automatic ones; the oldest go first. */
  keep: number;
  /** Days after which an automatic one is deleted. */
  keep_days: number;
}

export interface SpendLimit {
  /** Most in a day (UTC), in US dollars; null: no bound. */
  daily_usd?: string | null;
  /** Most in a month (UTC), in US dollars; null: no bound. */
  monthly_usd?: string | null;
  /** `block`: once it is reached, model calls are refused until the window ends. `pause`: the agent is put to sleep as well, and no message wakes it before. */
  action: 'block' | 'pause';
}

export interface SpendLimitInput {
  /** Most in a day (UTC), in US dollars; null: no bound. */
  daily_usd?: string | null | undefined;
  /** Most in a month (UTC), in US dollars; null: no bound. */
  monthly_usd?: string | null | undefined;
  /** `block`: once it is reached, model calls are refused until the window ends. `pause`: the agent is put to sleep as well, and no message wakes it before. */
  action: 'block' | 'pause';
}

export interface StartConnectionOAuth {
  /** Where the page that ends the consent leads on to. */
  redirect_url?: string | undefined;
  /** What this consent asks for, in the place of the connection's own. */
  scope?: string | undefined;
}

export interface StartOAuth {
  /** Where the page that ends the consent leads on to. */
  redirect_url?: string | undefined;
  /** The address that the consent is for. */
  login_hint?: string | undefined;
}

export interface TakeBrowserControl {
  /** How long it is held, counted from now; then it ends by itself. */
  seconds?: number | undefined;
}

/** Nothing: the platform is asked, and told nothing. */
export interface TestChannel {
  /** A `conversation.id` of `GET /v1/agents/:id/messages`: a test message is sent there. */
  conversation?: string | undefined;
}

export interface Token {
  /** An API key: `Authorization: Bearer`, or `X-API-Key`. */
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. A key of a device has none. */
  expires_in?: number;
  /** For the next token. A device gets none. */
  refresh_token?: string;
  scope: string;
  /** The id of the API key, which for a grant is the id of the grant. */
  key_id: string;
}

export interface TokenRequest {
  /** One of urn:ietf:params:oauth:grant-type:device_code, authorization_code, refresh_token. */
  grant_type: string;
  /** The code of `device_authorization`. */
  device_code?: string | undefined;
  /** Of the client that asked. Ignored for a device code. */
  client_id?: string | undefined;
  /** The code of the authorization. */
  code?: string | undefined;
  /** The address that the code came to. */
  redirect_uri?: string | undefined;
  /** The verifier of the challenge (RFC 7636). */
  code_verifier?: string | undefined;
  /** The newest one. One that was exchanged before ends the access. */
  refresh_token?: string | undefined;
  /** Fewer scopes than were given, for a refreshed token. */
  scope?: string | undefined;
  /** What the token is for (RFC 8707). */
  resource?: string | undefined;
}

/** A tool of the agent begins, or has ended. A turn may end without the end of a step. */
export interface ToolStep {
  /** Names the step within its turn; its end has the same. */
  id: string;
  /** The runtime's name of the tool. */
  tool: string;
  status: 'started' | 'completed' | 'failed';
  /** The use of the tool, in a short line. */
  title?: string;
}

export interface TotpBegun {
  secret: string;
  otpauth_url: string;
}

export interface UpdateAccount {
  /** Whether what is said in model calls of its agents is kept for some days, for every key with the scope `usage:read`. False by default. */
  record_llm_calls: boolean;
}

export interface UpdateAgent {
  /** Display name, 1 to 100 characters after trimming. */
  name?: string | undefined;
  /** `<provider>/<model_name>` for runtime_a, bare `<model_name>` for runtime_b; null: the deployment chooses. */
  model?: string | null | undefined;
  /** Free text; only a label. */
  description?: string | null | undefined;
  /** Keys to set or, with null, to remove; those of other providers stay. Null removes all. */
  llm_keys?: readonly {
    /** An id of `GET /v1/providers`. */
    provider: string;
    /** The provider's secret, which replaces the one there is; null removes it. */
    api_key: string | null;
  }[] | null | undefined;
  /** Taken by the running machine where it can be; else with the next start. Null: `medium`. */
  size?: 'small' | 'medium' | 'large' | 'xlarge' | null | undefined;
  /** Another name for `size`. */
  machine_size?: 'small' | 'medium' | 'large' | 'xlarge' | null | undefined;
  /** Fields that are left out stay as they are; null resets a field, or all of them. */
  lifecycle?: {
    /** Idle for this long, a running agent is paused; 0 is never. */
    idle_timeout_seconds?: number | null | undefined;
    /** Paused for this long, an agent is stopped. */
    stop_after_seconds?: number | null | undefined;
    /** `auto`: an idle agent sleeps. `always`: it does not. */
    keep_awake?: 'auto' | 'always' | null | undefined;
    /** A request wakes a paused agent. */
    auto_resume?: boolean | null | undefined;
    /** A request starts a stopped agent. */
    auto_start?: boolean | null | undefined;
    /** A message on a channel wakes the agent. */
    wake_on_message?: boolean | null | undefined;
  } | null | undefined;
  /** Pairs to set or, with null, to remove; others stay. Null removes all. */
  labels?: Record<string, string | null> | null | undefined;
  /** Pairs to set or, with null, to remove; others stay. Null removes all. */
  metadata?: Record<string, string | null> | null | undefined;
  spend_limit?: SpendLimitInput | null | undefined;
  /** Replaces all variables; null: none. */
  env?: Record<string, string> | null | undefined;
  /** Replaces all three lists; what is no longer in one is removed. Null: none. */
  packages?: {
    /** Packages of Debian's, each with an optional version: `<name>` or `<name>=<version>`. */
    apt?: readonly string[] | undefined;
    /** Python packages: `<name>` or `<name>==<version>`. */
    pip?: readonly string[] | undefined;
    /** npm packages, for their commands: `<name>` or `<name>@<version>`. */
    npm?: readonly string[] | undefined;
  } | null | undefined;
  /** Replaces the rules as a whole, in effect with the next call; null: every call is allowed. */
  confirmations?: {
    /** The first one that fits counts. */
    rules: readonly {
      /** `connection:<name>`, `tool:<name>` for a tool of Lodge, `messages`, `schedules`, `packages` or `command`. */
      on: string;
      /** A pattern with `*` for any characters. For an `http` connection it is about the method and the path, without the query; for an `mcp` connection about the name of the tool; for a tool of Lodge about its name or the JSON of its arguments. A rule that restricts ignores case, and a slash at the end. */
      match?: string | undefined;
      /** `ask`: the call waits for a yes. */
      policy: 'allow' | 'ask' | 'deny';
    }[];
    /** The policy for every other call by a connection, and for tools of Lodge that change something. */
    default?: 'allow' | 'ask' | 'deny' | undefined;
    /** Conversations in which the owner is asked. */
    deliver?: readonly {
      channel: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email';
      /** The id of a conversation that wrote to the agent there. */
      conversation: string;
    }[] | undefined;
    /** Ids of senders on channels who may decide there, each alone or behind the name of its channel. Nobody else can. */
    deciders?: readonly string[] | undefined;
    /** Time until an undecided confirmation is closed, of 5 minutes to 30 days. */
    expires?: string | undefined;
  } | null | undefined;
  /** Replaces the rules as a whole; null: every public address. */
  egress?: {
    /** `public`: every public address. `allowlist`: what `allow` names and nothing else. `none`: nothing. The model broker is reached in each. */
    mode?: 'public' | 'allowlist' | 'none' | undefined;
    /** Names, `*.name` for every name below one (of at least two parts), and public IPv4 addresses or blocks of /8 to /32. Only with `allowlist`. Kept in lower case and in ASCII, an address as a block. */
    allow?: readonly string[] | undefined;
  } | null | undefined;
  /** Models that the agent may call beside its own and its members', each as `<provider>/<model_name>` whatever its runtime. Null: any of the providers that it has a key for; under a spend limit, any with a known price. Replaces the list. */
  models?: readonly string[] | null | undefined;
  /** Ids of agents of the account that it may ask with its tool `ask_agent`; `*` for all. Replaces the list; null: none. */
  peers?: readonly string[] | null | undefined;
  /** Replaces the plan as a whole: what is left out has its default. Null: no snapshots are made by themselves. */
  snapshots?: {
    /** One after so many turns, once the agent is quiet; null: turns do not count. */
    every_turns?: number | null | undefined;
    /** One when this time has passed since the last snapshot, once the agent is quiet and had a turn: minutes, hours or days, from `5m` to `366d`; null: time does not count. */
    every?: string | null | undefined;
    /** Most automatic ones; the oldest go first. */
    keep?: number | undefined;
    /** Days after which an automatic one is deleted. */
    keep_days?: number | undefined;
  } | null | undefined;
  /** Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its identity. Null, or nothing but white space: none. */
  instructions?: string | null | undefined;
  /** Whether it has a browser in its machine. It needs room: runtime_a from the size `medium` on, runtime_b from the size `small` on. */
  browser?: boolean | null | undefined;
  /** For runtime_b alone. */
  dashboard?: boolean | null | undefined;
}

/** Only what is given changes. */
export interface UpdateMember {
  /** `<provider>/<model_name>`; null: the agent's own model. */
  model?: string | null | undefined;
  /** Who it is and how it works, up to 32 KB of UTF-8; put where its runtime reads its identity. Null, or nothing but white space: none. */
  instructions?: string | null | undefined;
}

/** Only what is given changes. One of `cron`, `every` and `at` takes the place of the one before. */
export interface UpdateSchedule {
  name?: string | undefined;
  /** False: no time comes. It can be run by hand. */
  enabled?: boolean | undefined;
  /** Five fields: minute, hour, day of month, month, day of week, in `time_zone`. Where clocks go ahead, a time that does not come comes at the end of the gap; where they go back, a time that comes twice is taken once. An expression with `*` or a step among minutes and hours runs by elapsed time instead. */
  cron?: string | undefined;
  /** An interval of minutes, hours or days, from `1m` to `366d`; the first run is one interval from now. */
  every?: string | undefined;
  /** One time. */
  at?: string | undefined;
  /** A name of the time zone database. */
  time_zone?: string | undefined;
  /** What the agent is told. A line before it says which schedule it is, and for when. */
  prompt?: string | undefined;
  /** The agent's conversation that the runs go on with, as `user` names it in a chat. Without it the schedule has one of its own. */
  conversation?: string | null | undefined;
  deliver?: {
    /** `none`: the answer stays in the run. `channel`: it is said in a conversation. `webhook`: the event `schedule.ran` has it. */
    to: 'none' | 'channel' | 'webhook';
    /** With `to: "channel"`. */
    channel?: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email' | undefined;
    /** With `to: "channel"`: the id of a conversation that wrote to the agent there, as `GET /v1/agents/:id/messages` shows it. */
    conversation?: string | undefined;
  } | undefined;
  /** False: an agent that does not run is left asleep, and the time is `skipped`. */
  wake?: boolean | undefined;
}

/** Only what is given changes. */
export interface UpdateSnapshot {
  name?: string | null | undefined;
  /** Free text. */
  note?: string | null | undefined;
  /** True: it outlives its agent. */
  pinned?: boolean | undefined;
  /** It is deleted then; null: it is kept. */
  expires_at?: string | null | undefined;
}

export interface UpdateWebhook {
  /** Where events are sent, by https. Private addresses are refused unless the operator allows them. */
  url?: string | undefined;
  /** Types of events: a type such as `agent.paused`, a family such as `agent.*`, or `*` for all. */
  events?: readonly string[] | undefined;
  /** A label of your own. */
  description?: string | undefined;
  /** A disabled webhook is told nothing. */
  enabled?: boolean | undefined;
}

export interface Upload {
  object: 'upload';
  /** An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and `-`. A hash of what is sent and where it goes finds the upload again after a crash of your own. */
  id: string;
  /** Bytes that are on the agent's disk: where the next part begins. 0 where nothing has come. */
  offset: number;
}

export interface UploadDeleted {
  object: 'upload.deleted';
  /** An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and `-`. A hash of what is sent and where it goes finds the upload again after a crash of your own. */
  id: string;
  deleted: true;
}

export interface Usage {
  object: 'usage';
  starting_at: string;
  ending_at: string;
  bucket_width: '1m' | '1h' | '1d' | 'all';
  group_by: 'agent' | 'model' | 'provider' | null;
  time_zone: string;
  /** In order of time, then of group. Without `group_by` every bucket; with it those in which anything was used. */
  data: UsageBucket[];
  totals: UsageTotals;
}

export interface UsageBucket {
  starting_at: string;
  ending_at: string;
  /** An agent's id, `<provider>/<model>` or a provider, as `group_by` says. Null without it, and for what no model or provider can be told for: machines and network. */
  group: string | null;
  compute: {
    running_seconds: number;
    paused_seconds: number;
    stopped_seconds: number;
    /** vCPUs of the machine, times the seconds it ran. */
    vcpu_seconds: number;
    /** CPU time that was really used. */
    cpu_seconds: number;
    /** Of machines that run or are paused. */
    memory_gb_seconds: number;
    /** Disk of the machine, in every status, and of snapshots. */
    storage_gb_seconds: number;
  };
  llm: {
    /** Model calls that went out. */
    requests: number;
    /** Without cached ones. */
    input_tokens: number;
    /** With reasoning. */
    output_tokens: number;
    cache_read_tokens: number;
    cache_write_tokens: number;
    /** Calls that used tokens at no known price: they are in no cost. */
    unpriced_requests: number;
    /** Calls whose tokens are estimated, for nobody told them. */
    estimated_requests: number;
  };
  network: {
    /** Sent to public addresses. */
    egress_bytes: number;
  };
  /** US dollars, as decimal text. */
  cost: {
    /** The cost of machines, by the prices of this deployment. */
    compute: string;
    /** The cost of model calls, by the list prices of their providers. */
    llm: string;
    /** The cost of disks and snapshots, by the prices of this deployment. */
    storage: string;
    /** All of it. */
    total: string;
  };
}

/** Of the whole range. */
export interface UsageTotals {
  compute: {
    running_seconds: number;
    paused_seconds: number;
    stopped_seconds: number;
    /** vCPUs of the machine, times the seconds it ran. */
    vcpu_seconds: number;
    /** CPU time that was really used. */
    cpu_seconds: number;
    /** Of machines that run or are paused. */
    memory_gb_seconds: number;
    /** Disk of the machine, in every status, and of snapshots. */
    storage_gb_seconds: number;
  };
  llm: {
    /** Model calls that went out. */
    requests: number;
    /** Without cached ones. */
    input_tokens: number;
    /** With reasoning. */
    output_tokens: number;
    cache_read_tokens: number;
    cache_write_tokens: number;
    /** Calls that used tokens at no known price: they are in no cost. */
    unpriced_requests: number;
    /** Calls whose tokens are estimated, for nobody told them. */
    estimated_requests: number;
  };
  network: {
    /** Sent to public addresses. */
    egress_bytes: number;
  };
  /** US dollars, as decimal text. */
  cost: {
    /** The cost of machines, by the prices of this deployment. */
    compute: string;
    /** The cost of model calls, by the list prices of their providers. */
    llm: string;
    /** The cost of disks and snapshots, by the prices of this deployment. */
    storage: string;
    /** All of it. */
    total: string;
  };
}

export interface Webhook {
  object: 'webhook';
  id: string;
  /** Where events are sent, by https. Private addresses are refused unless the operator allows them. */
  url: string;
  /** Types of events: a type such as `agent.paused`, a family such as `agent.*`, or `*` for all. */
  events: string[];
  /** A label of your own. */
  description: string;
  /** A disabled webhook is told nothing. */
  enabled: boolean;
  /** Why Lodge disabled it. */
  disabled_reason: string | null;
  secret_last4: string;
  /** Until then the secret before signs too. */
  previous_secret_until: string | null;
  /** Since then every attempt has failed. */
  failing_since: string | null;
  /** Deliveries that wait for their turn, or for the next attempt. */
  pending: number;
  created_at: string;
  updated_at: string;
}

export interface WebhookDeleted {
  object: 'webhook.deleted';
  id: string;
  deleted: true;
}

export interface WebhookDelivery {
  object: 'webhook_delivery';
  id: string;
  webhook_id: string;
  /** Null: a test. */
  event_id: string | null;
  event_type: string;
  agent_id: string | null;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  next_attempt_at: string | null;
  last_attempt_at: string | null;
  /** Of the last attempt that was answered. */
  response_status: number | null;
  /** What went wrong at the last attempt. */
  reason: string | null;
  duration_ms: number | null;
  created_at: string;
  ended_at: string | null;
}

export interface WebhookDeliveryList {
  object: 'list';
  data: WebhookDelivery[];
  has_more: boolean;
  /** Give it as `cursor` for the next page. */
  next_cursor: string | null;
}

export interface WebhookList {
  object: 'list';
  data: Webhook[];
  has_more: false;
  next_cursor: null;
}

export interface WebhookWithSecret {
  object: 'webhook';
  id: string;
  /** Where events are sent, by https. Private addresses are refused unless the operator allows them. */
  url: string;
  /** Types of events: a type such as `agent.paused`, a family such as `agent.*`, or `*` for all. */
  events: string[];
  /** A label of your own. */
  description: string;
  /** A disabled webhook is told nothing. */
  enabled: boolean;
  /** Why Lodge disabled it. */
  disabled_reason: string | null;
  secret_last4: string;
  /** Until then the secret before signs too. */
  previous_secret_until: string | null;
  /** Since then every attempt has failed. */
  failing_since: string | null;
  /** Deliveries that wait for their turn, or for the next attempt. */
  pending: number;
  created_at: string;
  updated_at: string;
  /** Shown this once. Signatures are made with it. */
  secret: string;
}

/** Parameters, body and reply of each operation, by its operationId. */
export interface Operations {
  /** POST /v1/agents: Create an agent */
  createAgent: {
    path: unknown;
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
      /** `false`: no platform is asked whether new credentials are good. */
      verify?: boolean | undefined;
    };
    body: CreateAgent;
    reply: Agent;
    stream: never;
  };
  /** GET /v1/agents: List agents */
  listAgents: {
    path: unknown;
    query: {
      /** Agents per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Only agents in this status. */
      status?: 'provisioning' | 'running' | 'paused' | 'stopped' | 'error' | undefined;
      /** `openclaw` is another name for `runtime_a`, `hermes` for `runtime_b`. */
      runtime_kind?: 'runtime_a' | 'runtime_b' | 'openclaw' | 'hermes' | undefined;
      /** Only agents whose name contains this, in any case. */
      name?: string | undefined;
      /** Only agents with these labels, all of them: `label[team]=support&label[env]=prod`. */
      label?: Record<string, string> | undefined;
      /** Only agents that have a label of this key, whatever its value. */
      has_label?: string | undefined;
      /** Only agents with these pairs: `metadata[team]=support`. */
      metadata?: Record<string, string> | undefined;
      /** By time of creation; newest first by default. */
      order?: 'asc' | 'desc' | undefined;
    };
    body: undefined;
    reply: AgentList;
    stream: never;
  };
  /** GET /v1/agents/{id}: Read an agent */
  getAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** Answer once the agent is in this status or in `error`, or `timeout` has passed. */
      wait_for?: 'running' | 'paused' | 'stopped' | undefined;
      /** Seconds; only with `wait_for`. */
      timeout?: number | undefined;
    };
    body: undefined;
    reply: Agent;
    stream: never;
  };
  /** PATCH /v1/agents/{id}: Change an agent */
  updateAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: UpdateAgent;
    reply: Agent;
    stream: never;
  };
  /** DELETE /v1/agents/{id}: Delete an agent */
  deleteAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
    };
    body: undefined;
    reply: DeletedAgent;
    stream: never;
  };
  /** POST /v1/agents/{id}/start: Start an agent */
  startAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
    };
    body: Record<string, never>;
    reply: Agent;
    stream: never;
  };
  /** POST /v1/agents/{id}/resume: Resume an agent */
  resumeAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
    };
    body: Record<string, never>;
    reply: Agent;
    stream: never;
  };
  /** POST /v1/agents/{id}/pause: Pause an agent */
  pauseAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
    };
    body: Record<string, never>;
    reply: Agent;
    stream: never;
  };
  /** POST /v1/agents/{id}/stop: Stop an agent */
  stopAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
    };
    body: Record<string, never>;
    reply: Agent;
    stream: never;
  };
  /** POST /v1/agents/{id}/restart: Restart an agent */
  restartAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
    };
    body: Record<string, never>;
    reply: Agent;
    stream: never;
  };
  /** POST /v1/agents/{id}/upgrade: Move an agent to the newest image */
  upgradeAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
    };
    body: Record<string, never>;
    reply: Agent;
    stream: never;
  };
  /** POST /v1/agents/{id}/llm_keys/check: Check an agent's LLM keys */
  checkLlmKeys: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: Record<string, never>;
    reply: LlmKeyChecks;
    stream: never;
  };
  /** POST /v1/fingerprints: Compute the fingerprints of secrets */
  fingerprintSecrets: {
    path: unknown;
    query: unknown;
    body: FingerprintSecrets;
    reply: FingerprintList;
    stream: never;
  };
  /** GET /v1/agents/{id}/logs: Read an agent's log */
  listAgentLogs: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** Entries per page. With `follow`: how many of the newest come first. */
      limit?: number | undefined;
      /** `next_cursor` of the page before; it holds for this agent and its direction. */
      cursor?: string | undefined;
      /** Newest entries first by default, oldest first with `asc`; with `follow` always `asc`. */
      direction?: 'desc' | 'asc' | undefined;
      /** Only entries of this time or later. */
      since?: string | undefined;
      /** Only entries before this time. */
      until?: string | undefined;
      /** Only entries of this level or a more severe one. */
      level?: 'debug' | 'info' | 'warn' | 'error' | undefined;
      /** Only entries of this source. */
      source?: 'system' | 'console' | 'gateway' | 'channel' | 'egress' | undefined;
      /** Only entries whose message contains this, in any case. */
      search?: string | undefined;
      /** `true`: answer as server-sent events, first the newest `limit` entries (all from `since` on when that is given without `limit`), then every entry as it comes. */
      follow?: boolean | undefined;
    };
    body: undefined;
    reply: LogList;
    stream: LogStreamEvent;
  };
  /** GET /v1/usage: Usage and cost of the account */
  getUsage: {
    path: unknown;
    query: {
      /** Widened to the beginning of its bucket. By default an hour (`1m`), a day (`1h`) or 30 days before `ending_at`. */
      starting_at?: string | undefined;
      /** Widened to the end of its bucket. Now by default. */
      ending_at?: string | undefined;
      /** `all`: the whole range, in whole days, as one bucket. Up to 1500 buckets, and 10000 with all groups. */
      bucket_width?: '1m' | '1h' | '1d' | 'all' | undefined;
      /** One record for each, in each bucket. */
      group_by?: 'agent' | 'model' | 'provider' | undefined;
      /** Whose days are meant with `1d` and `all`: a name of the IANA time zone database. */
      time_zone?: string | undefined;
      /** `csv`: the records as `text/csv`, with a line of names first. */
      format?: 'json' | 'csv' | undefined;
    };
    body: undefined;
    reply: Usage;
    stream: never;
  };
  /** GET /v1/agents/{id}/usage: Usage and cost of an agent */
  getAgentUsage: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** Widened to the beginning of its bucket. By default an hour (`1m`), a day (`1h`) or 30 days before `ending_at`. */
      starting_at?: string | undefined;
      /** Widened to the end of its bucket. Now by default. */
      ending_at?: string | undefined;
      /** `all`: the whole range, in whole days, as one bucket. Up to 1500 buckets, and 10000 with all groups. */
      bucket_width?: '1m' | '1h' | '1d' | 'all' | undefined;
      /** One record for each, in each bucket. */
      group_by?: 'agent' | 'model' | 'provider' | undefined;
      /** Whose days are meant with `1d` and `all`: a name of the IANA time zone database. */
      time_zone?: string | undefined;
      /** `csv`: the records as `text/csv`, with a line of names first. */
      format?: 'json' | 'csv' | undefined;
    };
    body: undefined;
    reply: Usage;
    stream: never;
  };
  /** GET /v1/agents/{id}/llm-calls: List an agent's model calls */
  listLlmCalls: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** Calls per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: LlmCallList;
    stream: never;
  };
  /** GET /v1/agents/{id}/llm-calls/{call_id}: Read one of an agent's model calls */
  getLlmCall: {
    path: {
      /** The agent's id. */
      id: string;
      /** The call's id. */
      call_id: string;
    };
    query: unknown;
    body: undefined;
    reply: LlmCallDetail;
    stream: never;
  };
  /** GET /v1/audit-events: List audit events */
  listAuditEvents: {
    path: unknown;
    query: {
      /** Events per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before, with the same `order` and filters. */
      cursor?: string | undefined;
      /** Newest first by default. */
      order?: 'desc' | 'asc' | undefined;
      /** Only this action, or a family such as `api_key.*`. */
      action?: string | undefined;
      /** Only what such actors did. */
      actor_type?: 'account' | 'api_key' | 'operator' | undefined;
      /** Only what this account or API key did. */
      actor_id?: string | undefined;
      /** Only what was done to this object, such as an agent. */
      target_id?: string | undefined;
    };
    body: undefined;
    reply: AuditEventList;
    stream: never;
  };
  /** GET /v1/events: Read or follow events */
  listEvents: {
    path: unknown;
    query: {
      /** Events per page. With `follow`: how many of the newest come first. */
      limit?: number | undefined;
      /** `next_cursor` of the page before; it holds for its direction. */
      cursor?: string | undefined;
      /** Newest events first by default, oldest first with `asc`; with `follow` always `asc`. */
      direction?: 'desc' | 'asc' | undefined;
      /** Only events of this type. */
      type?: 'agent.operation_ended' | 'agent.provisioned' | 'agent.started' | 'agent.restarted' | 'agent.recovered' | 'agent.resumed' | 'agent.paused' | 'agent.pause_failed' | 'agent.stopped' | 'agent.stop_failed' | 'agent.start_failed' | 'agent.starting' | 'agent.restarting' | 'agent.gateway_unhealthy' | 'agent.crashed' | 'agent.resume_failed' | 'agent.error' | 'agent.upgrading' | 'agent.upgraded' | 'agent.upgrade_failed' | 'agent.restoring' | 'agent.restored' | 'agent.restore_undone' | 'agent.exported' | 'agent.export_failed' | 'agent.resized' | 'agent.resize_failed' | 'agent.settings_applied' | 'agent.packages_installed' | 'agent.packages_failed' | 'agent.skills_loaded' | 'agent.skills_failed' | 'agent.egress_applied' | 'agent.created' | 'agent.forked' | 'agent.imported' | 'agent.export_requested' | 'agent.updated' | 'agent.deleted' | 'agent.start_requested' | 'agent.resume_requested' | 'agent.pause_requested' | 'agent.stop_requested' | 'agent.restart_requested' | 'agent.upgrade_requested' | 'agent.restore_requested' | 'agent.member_created' | 'agent.member_updated' | 'agent.member_deleted' | 'agent.port_published' | 'agent.port_unpublished' | 'api_key.created' | 'api_key.revoked' | 'oauth.granted' | 'oauth.revoked' | 'oauth.reuse_detected' | 'account.updated' | 'account.spend_limit_set' | 'webhook.created' | 'webhook.updated' | 'webhook.removed' | 'webhook.disabled' | 'session.created' | 'session.ended' | 'sessions.ended' | 'password.changed' | 'password.reset' | 'totp.enabled' | 'totp.removed' | 'invitation.created' | 'invitation.accepted' | 'invitation.ended' | 'usage.limit_warning' | 'usage.limit_reached' | 'channel.configured' | 'channel.removed' | 'channel.restarted' | 'channel.sender_decided' | 'channel.connected' | 'channel.disconnected' | 'channel.pairing_required' | 'channel.access_requested' | 'message.received' | 'message.retried' | 'message.answered' | 'message.failed' | 'schedule.created' | 'schedule.updated' | 'schedule.deleted' | 'schedule.run_asked' | 'schedule.ran' | 'schedule.failed' | 'schedule.missed' | 'hook.created' | 'hook.removed' | 'hook.received' | 'hook.answered' | 'hook.failed' | 'hook.skipped' | 'connection.put' | 'connection.removed' | 'connection.connected' | 'connection.consent_needed' | 'connection.answer_refused' | 'confirmation.requested' | 'confirmation.decided' | 'confirmation.expired' | 'confirmation.done' | 'skill.created' | 'skill.version_added' | 'skill.deleted' | 'agent.skill_put' | 'agent.skill_removed' | 'browser.control_taken' | 'browser.control_released' | 'snapshot.created' | 'snapshot.failed' | 'snapshot.updated' | 'snapshot.deleted' | 'snapshot.damaged' | undefined;
      /** Only events of this agent. */
      agent_id?: string | undefined;
      /** Only events of this time or later. */
      since?: string | undefined;
      /** Only events before this time. */
      until?: string | undefined;
      /** `true`, or `Accept: text/event-stream`: answer as server-sent events, first the newest `limit` events (all from `since` on when that is given without `limit`), then every event as it comes. */
      follow?: boolean | undefined;
    };
    body: undefined;
    reply: EventList;
    stream: EventStreamEvent;
  };
  /** POST /v1/agents/{id}/chat/completions: Talk to an agent */
  createAgentChatCompletion: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: AgentChat;
    reply: ChatCompletion;
    stream: ChatStreamEvent;
  };
  /** POST /v1/chat/completions: Talk to the agent that `model` names */
  createChatCompletion: {
    path: unknown;
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: ModelChat;
    reply: ChatCompletion;
    stream: ChatStreamEvent;
  };
  /** GET /v1/models: List agents, and their members, as models */
  listModels: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: ModelList;
    stream: never;
  };
  /** GET /v1/agents/{id}/models: List the one agent, and its members, as models */
  listAgentModels: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: ModelList;
    stream: never;
  };
  /** GET /v1/agents/{id}/files/{path}: Read a file of an agent's workspace */
  getAgentFile: {
    path: {
      /** The agent's id. */
      id: string;
      /** Path in the workspace, with its slashes as they are or encoded; no `.` and `..`. */
      path: string;
    };
    query: {
      /** `1`: what is in the folder, by name, instead of the bytes of a file. */
      list?: boolean | undefined;
      /** Entries per page of a list. */
      limit?: number | undefined;
      /** `next_cursor` of the page before; it holds for this agent and folder. */
      cursor?: string | undefined;
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: undefined;
    reply: FileList;
    stream: never;
  };
  /** DELETE /v1/agents/{id}/files/{path}: Delete a file or folder of an agent's workspace */
  deleteAgentFile: {
    path: {
      /** The agent's id. */
      id: string;
      /** Path in the workspace, with its slashes as they are or encoded; no `.` and `..`. */
      path: string;
    };
    query: {
      /** `true`: a folder goes with all that is in it. Without it only an empty one does. */
      recursive?: boolean | undefined;
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: undefined;
    reply: FileDeleted;
    stream: never;
  };
  /** PUT /v1/agents/{id}/files/{path}: Write a file of an agent's workspace */
  putAgentFile: {
    path: {
      /** The agent's id. */
      id: string;
      /** Path in the workspace, with its slashes as they are or encoded; no `.` and `..`. */
      path: string;
    };
    query: {
      /** `1`: makes a folder, with its parents; there is no body then. */
      directory?: boolean | undefined;
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: Uint8Array;
    reply: AgentFile;
    stream: never;
  };
  /** GET /v1/agents/{id}/files: List an agent's workspace */
  listAgentFiles: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `1`: what is in the folder, by name, instead of the bytes of a file. */
      list?: boolean | undefined;
      /** Entries per page of a list. */
      limit?: number | undefined;
      /** `next_cursor` of the page before; it holds for this agent and folder. */
      cursor?: string | undefined;
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: undefined;
    reply: FileList;
    stream: never;
  };
  /** GET /v1/agents/{id}/uploads/{upload}: Read how much of an upload has come */
  getAgentUpload: {
    path: {
      /** The agent's id. */
      id: string;
      /** An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and `-`. A hash of what is sent and where it goes finds the upload again after a crash of your own. */
      upload: string;
    };
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: undefined;
    reply: Upload;
    stream: never;
  };
  /** POST /v1/agents/{id}/uploads/{upload}: Put an upload in its place */
  finishAgentUpload: {
    path: {
      /** The agent's id. */
      id: string;
      /** An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and `-`. A hash of what is sent and where it goes finds the upload again after a crash of your own. */
      upload: string;
    };
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: FinishUpload;
    reply: AgentFile;
    stream: never;
  };
  /** DELETE /v1/agents/{id}/uploads/{upload}: Give up an upload */
  deleteAgentUpload: {
    path: {
      /** The agent's id. */
      id: string;
      /** An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and `-`. A hash of what is sent and where it goes finds the upload again after a crash of your own. */
      upload: string;
    };
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: undefined;
    reply: UploadDeleted;
    stream: never;
  };
  /** PATCH /v1/agents/{id}/uploads/{upload}: Upload a part of a file to an agent's machine */
  uploadAgentFilePart: {
    path: {
      /** The agent's id. */
      id: string;
      /** An id that you choose for one file of this agent, 16 to 64 letters, digits, `_` and `-`. A hash of what is sent and where it goes finds the upload again after a crash of your own. */
      upload: string;
    };
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: Uint8Array;
    reply: Upload;
    stream: never;
  };
  /** POST /v1/agents/{id}/exec: Run a command in an agent's machine */
  execInAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: ExecRequest;
    reply: ExecResult;
    stream: ExecStreamEvent;
  };
  /** GET /v1/agents/{id}/terminal: Open a terminal on an agent's machine */
  openAgentTerminal: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
      /** Whom the shell runs as: the agent’s own user, or `root` of its machine, which is written to the audit log and counts among the key’s changes, too. */
      user?: 'agent' | 'root' | undefined;
      /** Columns at the beginning. */
      cols?: number | undefined;
      /** Rows at the beginning. */
      rows?: number | undefined;
      /** Kind of terminal, for TERM. */
      term?: string | undefined;
    };
    body: undefined;
    reply: never;
    stream: never;
  };
  /** GET /v1/sizes: List machine sizes */
  listSizes: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: SizeList;
    stream: never;
  };
  /** GET /v1/providers: List LLM providers */
  listProviders: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: ProviderList;
    stream: never;
  };
  /** GET /v1/agents/{id}/members: List the members of an agent */
  listMembers: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: AgentMemberList;
    stream: never;
  };
  /** POST /v1/agents/{id}/members: Add a member to an agent */
  createMember: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: CreateMember;
    reply: AgentMember;
    stream: never;
  };
  /** GET /v1/agents/{id}/members/{name}: Read a member */
  getMember: {
    path: {
      /** The agent's id. */
      id: string;
      /** The member's name. */
      name: string;
    };
    query: unknown;
    body: undefined;
    reply: AgentMember;
    stream: never;
  };
  /** PATCH /v1/agents/{id}/members/{name}: Change a member */
  updateMember: {
    path: {
      /** The agent's id. */
      id: string;
      /** The member's name. */
      name: string;
    };
    query: unknown;
    body: UpdateMember;
    reply: AgentMember;
    stream: never;
  };
  /** DELETE /v1/agents/{id}/members/{name}: Remove a member */
  deleteMember: {
    path: {
      /** The agent's id. */
      id: string;
      /** The member's name. */
      name: string;
    };
    query: unknown;
    body: undefined;
    reply: DeletedMember;
    stream: never;
  };
  /** POST /v1/agents/{id}/links: Make a link to an agent for a browser */
  createAgentLink: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: CreateLink;
    reply: Link;
    stream: never;
  };
  /** GET /v1/agents/{id}/ports: List the published ports of an agent */
  listAgentPorts: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: PortList;
    stream: never;
  };
  /** POST /v1/agents/{id}/ports: Publish a port of an agent */
  publishAgentPort: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: PublishPort;
    reply: Port;
    stream: never;
  };
  /** DELETE /v1/agents/{id}/ports/{port}: Take a published port back */
  unpublishAgentPort: {
    path: {
      /** The agent's id. */
      id: string;
      port: number;
    };
    query: unknown;
    body: undefined;
    reply: DeletedPort;
    stream: never;
  };
  /** GET /v1/agents/{id}/ports/{port}/tunnel: Open a connection to a port of an agent's machine */
  openAgentPortTunnel: {
    path: {
      /** The agent's id. */
      id: string;
      port: number;
    };
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: undefined;
    reply: never;
    stream: never;
  };
  /** GET /v1/agents/{id}/browser: Read the browser of an agent */
  getAgentBrowser: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: Browser;
    stream: never;
  };
  /** POST /v1/agents/{id}/browser/control: Take the control of a browser */
  takeAgentBrowserControl: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: TakeBrowserControl;
    reply: Browser;
    stream: never;
  };
  /** DELETE /v1/agents/{id}/browser/control: Give the control of a browser back */
  releaseAgentBrowserControl: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: Browser;
    stream: never;
  };
  /** GET /v1/agents/{id}/channels: List the messaging channels of an agent */
  listChannels: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: ChannelList;
    stream: never;
  };
  /** GET /v1/agents/{id}/channels/{channel}: Read a messaging channel of an agent */
  getChannel: {
    path: {
      /** The agent's id. */
      id: string;
      /** slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`. */
      channel: string;
    };
    query: unknown;
    body: undefined;
    reply: Channel;
    stream: never;
  };
  /** PUT /v1/agents/{id}/channels/{channel}: Put a messaging channel of an agent */
  putChannel: {
    path: {
      /** The agent's id. */
      id: string;
      /** slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`. */
      channel: string;
    };
    query: {
      /** `false`: no platform is asked whether new credentials are good. */
      verify?: boolean | undefined;
    };
    body: PutChannel;
    reply: Channel;
    stream: never;
  };
  /** DELETE /v1/agents/{id}/channels/{channel}: Remove a messaging channel of an agent */
  deleteChannel: {
    path: {
      /** The agent's id. */
      id: string;
      /** slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`. */
      channel: string;
    };
    query: unknown;
    body: undefined;
    reply: DeletedChannel;
    stream: never;
  };
  /** POST /v1/agents/{id}/channels/{channel}/restart: Open the connection of a channel anew */
  restartChannel: {
    path: {
      /** The agent's id. */
      id: string;
      /** slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`. */
      channel: string;
    };
    query: unknown;
    body: Record<string, never>;
    reply: Channel;
    stream: never;
  };
  /** POST /v1/agents/{id}/channels/{channel}/test: Test a channel */
  testChannel: {
    path: {
      /** The agent's id. */
      id: string;
      /** slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`. */
      channel: string;
    };
    query: unknown;
    body: TestChannel;
    reply: ChannelTest;
    stream: never;
  };
  /** GET /v1/agents/{id}/channels/{channel}/approvals: List who asked to talk to an agent */
  listApprovals: {
    path: {
      /** The agent's id. */
      id: string;
      /** slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`. */
      channel: string;
    };
    query: {
      /** Only those in this state. */
      state?: 'pending' | 'approved' | 'denied' | undefined;
    };
    body: undefined;
    reply: ApprovalList;
    stream: never;
  };
  /** POST /v1/agents/{id}/channels/{channel}/approvals: Approve or deny who asked to talk to an agent */
  decideApproval: {
    path: {
      /** The agent's id. */
      id: string;
      /** slack, discord, telegram, whatsapp, gmail; `email` is another name for `gmail`. */
      channel: string;
    };
    query: unknown;
    body: DecideApproval;
    reply: Approval;
    stream: never;
  };
  /** POST /v1/agents/{id}/channels/whatsapp/pair: Pair WhatsApp with an agent */
  pairWhatsApp: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: PairWhatsApp;
    reply: Pairing;
    stream: never;
  };
  /** GET /v1/agents/{id}/channels/whatsapp/pair: Read or follow the pairing of WhatsApp */
  getWhatsAppPairing: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: Pairing;
    stream: PairingStreamEvent;
  };
  /** POST /v1/agents/{id}/channels/gmail/oauth/start: Begin the consent for a mailbox */
  startGmailOAuth: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: StartOAuth;
    reply: OAuthSession;
    stream: never;
  };
  /** GET /v1/agents/{id}/messages: List the messages of an agent on its channels */
  listMessages: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** Messages per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Only messages of this channel. */
      channel?: 'slack' | 'discord' | 'telegram' | 'whatsapp' | 'gmail' | 'email' | undefined;
      /** Only messages in this state. */
      state?: 'received' | 'answered' | 'failed' | 'unknown' | 'refused' | undefined;
      /** `true`: with what was written and answered. */
      content?: boolean | undefined;
    };
    body: undefined;
    reply: ChannelMessageList;
    stream: never;
  };
  /** POST /v1/agents/{id}/messages/{message}/retry: Try a message again */
  retryMessage: {
    path: {
      /** The agent's id. */
      id: string;
      /** The message's id. */
      message: string;
    };
    query: unknown;
    body: Record<string, never>;
    reply: ChannelMessage;
    stream: never;
  };
  /** GET /v1/confirmations: List confirmations */
  listConfirmations: {
    path: unknown;
    query: {
      /** Confirmations per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Only those in this status. */
      status?: 'pending' | 'allowed' | 'sending' | 'done' | 'denied' | 'expired' | 'failed' | 'unknown' | undefined;
      /** Only those of this agent. */
      agent_id?: string | undefined;
    };
    body: undefined;
    reply: ConfirmationList;
    stream: never;
  };
  /** GET /v1/confirmations/{confirmation}: Read a confirmation */
  getConfirmation: {
    path: {
      /** The confirmation's id. */
      confirmation: string;
    };
    query: unknown;
    body: undefined;
    reply: Confirmation;
    stream: never;
  };
  /** POST /v1/confirmations/{confirmation}: Decide about a confirmation */
  decideConfirmation: {
    path: {
      /** The confirmation's id. */
      confirmation: string;
    };
    query: unknown;
    body: DecideConfirmation;
    reply: Confirmation;
    stream: never;
  };
  /** GET /v1/agents/{id}/connections: List the connections of an agent */
  listConnections: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: ConnectionList;
    stream: never;
  };
  /** GET /v1/agents/{id}/connections/{name}: Read a connection of an agent */
  getConnection: {
    path: {
      /** The agent's id. */
      id: string;
      /** Lower case letters, digits and hyphens, a letter first, at most 32. */
      name: string;
    };
    query: unknown;
    body: undefined;
    reply: Connection;
    stream: never;
  };
  /** PUT /v1/agents/{id}/connections/{name}: Put a connection of an agent */
  putConnection: {
    path: {
      /** The agent's id. */
      id: string;
      /** Lower case letters, digits and hyphens, a letter first, at most 32. */
      name: string;
    };
    query: unknown;
    body: PutConnection;
    reply: Connection;
    stream: never;
  };
  /** DELETE /v1/agents/{id}/connections/{name}: Remove a connection of an agent */
  deleteConnection: {
    path: {
      /** The agent's id. */
      id: string;
      /** Lower case letters, digits and hyphens, a letter first, at most 32. */
      name: string;
    };
    query: unknown;
    body: undefined;
    reply: DeletedConnection;
    stream: never;
  };
  /** POST /v1/agents/{id}/connections/{name}/oauth/start: Begin the consent for a connection */
  startConnectionOAuth: {
    path: {
      /** The agent's id. */
      id: string;
      /** Lower case letters, digits and hyphens, a letter first, at most 32. */
      name: string;
    };
    query: unknown;
    body: StartConnectionOAuth;
    reply: ConnectionOAuthSession;
    stream: never;
  };
  /** POST /v1/webhooks: Have events sent to a server of yours */
  createWebhook: {
    path: unknown;
    query: unknown;
    body: CreateWebhook;
    reply: WebhookWithSecret;
    stream: never;
  };
  /** GET /v1/webhooks: List the webhooks of the account */
  listWebhooks: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: WebhookList;
    stream: never;
  };
  /** GET /v1/webhooks/{webhook}: Read a webhook */
  getWebhook: {
    path: {
      /** The webhook's id. */
      webhook: string;
    };
    query: unknown;
    body: undefined;
    reply: Webhook;
    stream: never;
  };
  /** PATCH /v1/webhooks/{webhook}: Change a webhook */
  updateWebhook: {
    path: {
      /** The webhook's id. */
      webhook: string;
    };
    query: unknown;
    body: UpdateWebhook;
    reply: Webhook;
    stream: never;
  };
  /** DELETE /v1/webhooks/{webhook}: Remove a webhook */
  deleteWebhook: {
    path: {
      /** The webhook's id. */
      webhook: string;
    };
    query: unknown;
    body: undefined;
    reply: WebhookDeleted;
    stream: never;
  };
  /** POST /v1/webhooks/{webhook}/rotate: Give a webhook a new secret */
  rotateWebhookSecret: {
    path: {
      /** The webhook's id. */
      webhook: string;
    };
    query: unknown;
    body: RotateWebhookSecret;
    reply: WebhookWithSecret;
    stream: never;
  };
  /** GET /v1/webhooks/{webhook}/deliveries: List the deliveries of a webhook */
  listWebhookDeliveries: {
    path: {
      /** The webhook's id. */
      webhook: string;
    };
    query: {
      /** Deliveries per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Only deliveries in this state. */
      state?: 'pending' | 'delivered' | 'failed' | undefined;
    };
    body: undefined;
    reply: WebhookDeliveryList;
    stream: never;
  };
  /** POST /v1/webhooks/{webhook}/test: Send a test event */
  testWebhook: {
    path: {
      /** The webhook's id. */
      webhook: string;
    };
    query: unknown;
    body: Record<string, never>;
    reply: WebhookDelivery;
    stream: never;
  };
  /** POST /v1/webhooks/{webhook}/deliveries/{delivery}/redeliver: Send a delivery again */
  redeliverWebhookDelivery: {
    path: {
      /** The webhook's id. */
      webhook: string;
      /** The delivery's id. */
      delivery: string;
    };
    query: unknown;
    body: Record<string, never>;
    reply: WebhookDelivery;
    stream: never;
  };
  /** GET /v1/skills: List the skills of the account */
  listSkills: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: SkillList;
    stream: never;
  };
  /** POST /v1/skills: Add a skill, or a version of it */
  addSkill: {
    path: unknown;
    query: {
      /** With an archive as the body; with JSON it is a field. Takes the skill in spite of its findings. */
      accept_findings?: boolean | undefined;
    };
    body: AddSkill | Uint8Array;
    reply: Skill;
    stream: never;
  };
  /** GET /v1/skills/{skill}: Read a skill */
  getSkill: {
    path: {
      /** The skill's id or name. */
      skill: string;
    };
    query: unknown;
    body: undefined;
    reply: Skill;
    stream: never;
  };
  /** DELETE /v1/skills/{skill}: Delete a skill */
  deleteSkill: {
    path: {
      /** The skill's id or name. */
      skill: string;
    };
    query: unknown;
    body: undefined;
    reply: SkillDeleted;
    stream: never;
  };
  /** GET /v1/skills/{skill}/versions: List the versions of a skill */
  listSkillVersions: {
    path: {
      /** The skill's id or name. */
      skill: string;
    };
    query: {
      /** Versions per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: SkillVersionList;
    stream: never;
  };
  /** GET /v1/skills/{skill}/files/{path}: Read a file of a skill */
  getSkillFile: {
    path: {
      /** The skill's id or name. */
      skill: string;
      /** Path in the skill, with its slashes as they are or encoded. */
      path: string;
    };
    query: {
      /** By default the latest. */
      version?: number | undefined;
    };
    body: undefined;
    reply: never;
    stream: never;
  };
  /** GET /v1/agents/{id}/skills: List the skills of an agent */
  listAgentSkills: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: AgentSkillList;
    stream: never;
  };
  /** GET /v1/agents/{id}/skills/{name}: Read a skill of an agent */
  getAgentSkill: {
    path: {
      /** The agent's id. */
      id: string;
      /** The name of the skill. */
      name: string;
    };
    query: unknown;
    body: undefined;
    reply: AgentSkill;
    stream: never;
  };
  /** PUT /v1/agents/{id}/skills/{name}: Give an agent a skill */
  putAgentSkill: {
    path: {
      /** The agent's id. */
      id: string;
      /** The name of the skill. */
      name: string;
    };
    query: unknown;
    body: PutAgentSkill;
    reply: AgentSkill;
    stream: never;
  };
  /** DELETE /v1/agents/{id}/skills/{name}: Take a skill from an agent */
  deleteAgentSkill: {
    path: {
      /** The agent's id. */
      id: string;
      /** The name of the skill. */
      name: string;
    };
    query: unknown;
    body: undefined;
    reply: AgentSkillRemoved;
    stream: never;
  };
  /** POST /v1/agents/{id}/export: Export an agent as one file */
  exportAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: ExportAgent;
    reply: never;
    stream: never;
  };
  /** GET /v1/agents/{id}/schedules: List the schedules of an agent */
  listSchedules: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: ScheduleList;
    stream: never;
  };
  /** POST /v1/agents/{id}/schedules: Make a schedule of an agent */
  createSchedule: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: CreateSchedule;
    reply: Schedule;
    stream: never;
  };
  /** GET /v1/agents/{id}/schedules/{schedule}: Read a schedule */
  getSchedule: {
    path: {
      /** The agent's id. */
      id: string;
      /** The schedule's id. */
      schedule: string;
    };
    query: unknown;
    body: undefined;
    reply: Schedule;
    stream: never;
  };
  /** PATCH /v1/agents/{id}/schedules/{schedule}: Change a schedule */
  updateSchedule: {
    path: {
      /** The agent's id. */
      id: string;
      /** The schedule's id. */
      schedule: string;
    };
    query: unknown;
    body: UpdateSchedule;
    reply: Schedule;
    stream: never;
  };
  /** DELETE /v1/agents/{id}/schedules/{schedule}: Remove a schedule */
  deleteSchedule: {
    path: {
      /** The agent's id. */
      id: string;
      /** The schedule's id. */
      schedule: string;
    };
    query: unknown;
    body: undefined;
    reply: DeletedSchedule;
    stream: never;
  };
  /** POST /v1/agents/{id}/schedules/{schedule}/run: Run a schedule now */
  runSchedule: {
    path: {
      /** The agent's id. */
      id: string;
      /** The schedule's id. */
      schedule: string;
    };
    query: unknown;
    body: Record<string, never>;
    reply: ScheduleRun;
    stream: never;
  };
  /** GET /v1/agents/{id}/schedules/{schedule}/runs: List the runs of a schedule */
  listScheduleRuns: {
    path: {
      /** The agent's id. */
      id: string;
      /** The schedule's id. */
      schedule: string;
    };
    query: {
      /** Runs per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: ScheduleRunList;
    stream: never;
  };
  /** GET /v1/agents/{id}/hooks: List the hooks of an agent */
  listHooks: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: HookList;
    stream: never;
  };
  /** POST /v1/agents/{id}/hooks: Make a hook of an agent */
  createHook: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: unknown;
    body: CreateHook;
    reply: CreatedHook;
    stream: never;
  };
  /** DELETE /v1/agents/{id}/hooks/{hook}: Remove a hook */
  deleteHook: {
    path: {
      /** The agent's id. */
      id: string;
      /** The hook's id. */
      hook: string;
    };
    query: unknown;
    body: undefined;
    reply: DeletedHook;
    stream: never;
  };
  /** GET /v1/agents/{id}/hooks/{hook}/messages: List what came to a hook */
  listHookMessages: {
    path: {
      /** The agent's id. */
      id: string;
      /** The hook's id. */
      hook: string;
    };
    query: {
      /** Messages per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: HookMessageList;
    stream: never;
  };
  /** POST /v1/agents/{id}/snapshots: Save an agent as a snapshot */
  createSnapshot: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
    };
    body: CreateSnapshot;
    reply: Snapshot;
    stream: never;
  };
  /** GET /v1/agents/{id}/snapshots: List the snapshots of an agent */
  listAgentSnapshots: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** Snapshots per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Only those of this kind. */
      kind?: 'named' | 'auto' | 'fork' | 'before_restore' | 'before_upgrade' | undefined;
    };
    body: undefined;
    reply: SnapshotList;
    stream: never;
  };
  /** GET /v1/snapshots: List snapshots */
  listSnapshots: {
    path: unknown;
    query: {
      /** Snapshots per page. */
      limit?: number | undefined;
      /** `next_cursor` of the page before. */
      cursor?: string | undefined;
      /** Only those of this kind. */
      kind?: 'named' | 'auto' | 'fork' | 'before_restore' | 'before_upgrade' | undefined;
      /** Only those of this agent, which may be deleted. */
      agent_id?: string | undefined;
    };
    body: undefined;
    reply: SnapshotList;
    stream: never;
  };
  /** GET /v1/snapshots/{snapshot}: Read a snapshot */
  getSnapshot: {
    path: {
      /** The snapshot's id. */
      snapshot: string;
    };
    query: unknown;
    body: undefined;
    reply: Snapshot;
    stream: never;
  };
  /** PATCH /v1/snapshots/{snapshot}: Change a snapshot */
  updateSnapshot: {
    path: {
      /** The snapshot's id. */
      snapshot: string;
    };
    query: unknown;
    body: UpdateSnapshot;
    reply: Snapshot;
    stream: never;
  };
  /** DELETE /v1/snapshots/{snapshot}: Delete a snapshot */
  deleteSnapshot: {
    path: {
      /** The snapshot's id. */
      snapshot: string;
    };
    query: unknown;
    body: undefined;
    reply: DeletedSnapshot;
    stream: never;
  };
  /** POST /v1/agents/{id}/restore: Take an agent back to a snapshot */
  restoreAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
    };
    body: RestoreAgent;
    reply: Agent;
    stream: never;
  };
  /** GET /v1/snapshots/{snapshot}/files/{path}: Read a file of a snapshot */
  getSnapshotFile: {
    path: {
      /** The snapshot's id. */
      snapshot: string;
      /** Path in the workspace, with its slashes as they are or encoded; no `.` and `..`. */
      path: string;
    };
    query: {
      /** `1`: what is in the folder, by name, instead of the bytes of a file. */
      list?: boolean | undefined;
      /** Entries per page of a list. */
      limit?: number | undefined;
      /** `next_cursor` of the page before; it holds for this snapshot and folder. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: SnapshotFileList;
    stream: never;
  };
  /** GET /v1/snapshots/{snapshot}/files: List the workspace of a snapshot */
  listSnapshotFiles: {
    path: {
      /** The snapshot's id. */
      snapshot: string;
    };
    query: {
      /** `1`: what is in the folder, by name, instead of the bytes of a file. */
      list?: boolean | undefined;
      /** Entries per page of a list. */
      limit?: number | undefined;
      /** `next_cursor` of the page before; it holds for this snapshot and folder. */
      cursor?: string | undefined;
    };
    body: undefined;
    reply: SnapshotFileList;
    stream: never;
  };
  /** GET /v1/snapshots/{snapshot}/diff: Compare the workspace of a snapshot */
  diffSnapshot: {
    path: {
      /** The snapshot's id. */
      snapshot: string;
    };
    query: {
      /** Another snapshot of the account, or `now`: the agent of the snapshot as it is, which must run. */
      to?: string | undefined;
    };
    body: undefined;
    reply: SnapshotDiff;
    stream: never;
  };
  /** POST /v1/agents/{id}/fork: Fork an agent */
  forkAgent: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
    };
    body: ForkAgent;
    reply: Fork;
    stream: never;
  };
  /** POST /v1/agents/{id}/responses: Have an agent respond */
  createAgentResponse: {
    path: {
      /** The agent's id. */
      id: string;
    };
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: AgentResponseRequest;
    reply: AgentResponse;
    stream: ResponseStreamEvent;
  };
  /** POST /v1/responses: Have the agent respond that `model` names */
  createResponse: {
    path: unknown;
    query: {
      /** `true`: a stopped agent is started first. A paused one is resumed in any case. */
      wake?: boolean | undefined;
    };
    body: ModelResponseRequest;
    reply: AgentResponse;
    stream: ResponseStreamEvent;
  };
  /** GET /v1/account: Read the account of the key */
  getAccount: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: Account;
    stream: never;
  };
  /** PATCH /v1/account: Change the account of the key */
  updateAccount: {
    path: unknown;
    query: unknown;
    body: UpdateAccount;
    reply: Account;
    stream: never;
  };
  /** GET /v1/limits: Quotas, rate limits and spend limits */
  getLimits: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: Limits;
    stream: never;
  };
  /** GET /v1/host: Read the state of the machine */
  getHost: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: Host;
    stream: never;
  };
  /** POST /v1/mcp: Use the API as tools of the Model Context Protocol */
  callMcp: {
    path: unknown;
    query: unknown;
    body: McpMessage;
    reply: McpAnswer;
    stream: McpStreamEvent;
  };
  /** GET /v1/health: Ask whether the service works */
  getHealth: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: Health;
    stream: never;
  };
  /** GET /v1/openapi.json: Read this document */
  getOpenApi: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: Record<string, unknown>;
    stream: never;
  };
  /** GET /v1/account/options: Read what the account area offers */
  getAccountOptions: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: AccountOptions;
    stream: never;
  };
  /** GET /v1/account/session: Read the session of this browser */
  getSession: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: SessionBody;
    stream: never;
  };
  /** POST /v1/account/sign-in: Sign in */
  signIn: {
    path: unknown;
    query: unknown;
    body: SignIn;
    reply: SessionBody;
    stream: never;
  };
  /** POST /v1/account/sign-out: End the session of this browser */
  signOut: {
    path: unknown;
    query: unknown;
    body: Record<string, never>;
    reply: Record<string, never>;
    stream: never;
  };
  /** GET /v1/account/sessions: List the sessions of the account */
  listSessions: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: SessionList;
    stream: never;
  };
  /** DELETE /v1/account/sessions: End every other session */
  endOtherSessions: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: Record<string, never>;
    stream: never;
  };
  /** DELETE /v1/account/sessions/{id}: End a session */
  endSession: {
    path: {
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: Record<string, never>;
    stream: never;
  };
  /** POST /v1/account/links: Read what a link is for */
  readAccountLink: {
    path: unknown;
    query: unknown;
    body: ReadAccountLink;
    reply: AccountLink;
    stream: never;
  };
  /** POST /v1/account/setup: Make the first account yours */
  setUpAccount: {
    path: unknown;
    query: unknown;
    body: JoinByLink;
    reply: SessionBody;
    stream: never;
  };
  /** POST /v1/account/invitations/accept: Accept an invitation */
  acceptInvitation: {
    path: unknown;
    query: unknown;
    body: JoinByLink;
    reply: SessionBody;
    stream: never;
  };
  /** POST /v1/account/register: Make an account */
  register: {
    path: unknown;
    query: unknown;
    body: Register;
    reply: SessionBody;
    stream: never;
  };
  /** POST /v1/account/password: Change the password */
  changePassword: {
    path: unknown;
    query: unknown;
    body: ChangePassword;
    reply: SessionBody;
    stream: never;
  };
  /** POST /v1/account/password-reset: Set a password by the operator's link */
  resetPassword: {
    path: unknown;
    query: unknown;
    body: ResetPassword;
    reply: SessionBody;
    stream: never;
  };
  /** POST /v1/account/totp: Begin a second factor */
  beginTotp: {
    path: unknown;
    query: unknown;
    body: BeginTotp;
    reply: TotpBegun;
    stream: never;
  };
  /** DELETE /v1/account/totp: Take the second factor off */
  removeTotp: {
    path: unknown;
    query: unknown;
    body: RemoveTotp;
    reply: Record<string, never>;
    stream: never;
  };
  /** POST /v1/account/totp/confirm: Put the second factor in force */
  confirmTotp: {
    path: unknown;
    query: unknown;
    body: ConfirmTotp;
    reply: RecoveryCodes;
    stream: never;
  };
  /** GET /v1/account/keys/current: Read the API key of this request */
  getCurrentApiKey: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: ApiKey;
    stream: never;
  };
  /** DELETE /v1/account/keys/current: Revoke the API key of this request */
  revokeCurrentApiKey: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: ApiKey;
    stream: never;
  };
  /** GET /v1/account/keys: List the API keys of the account */
  listApiKeys: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: ApiKeyList;
    stream: never;
  };
  /** POST /v1/account/keys: Make an API key */
  createApiKey: {
    path: unknown;
    query: unknown;
    body: CreateApiKey;
    reply: CreatedApiKey;
    stream: never;
  };
  /** DELETE /v1/account/keys/{id}: Revoke an API key */
  revokeApiKey: {
    path: {
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: ApiKey;
    stream: never;
  };
  /** GET /v1/account/people: List the people of the deployment */
  listPeople: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: PersonList;
    stream: never;
  };
  /** GET /v1/account/invitations: List invitations */
  listInvitations: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: InvitationList;
    stream: never;
  };
  /** POST /v1/account/invitations: Invite somebody */
  createInvitation: {
    path: unknown;
    query: unknown;
    body: CreateInvitation;
    reply: CreatedInvitation;
    stream: never;
  };
  /** DELETE /v1/account/invitations/{id}: Take an invitation back */
  endInvitation: {
    path: {
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: Record<string, never>;
    stream: never;
  };
  /** GET /v1/account/spend: Read what the account has spent and may spend */
  getAccountSpend: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: AccountSpend;
    stream: never;
  };
  /** PUT /v1/account/people/{id}/spend-limit: Limit what an account spends */
  setSpendLimit: {
    path: {
      id: string;
    };
    query: unknown;
    body: SetSpendLimit;
    reply: Record<string, never>;
    stream: never;
  };
  /** POST /v1/account/device: Read which machine waits with a code */
  readDeviceRequest: {
    path: unknown;
    query: unknown;
    body: ReadDeviceRequest;
    reply: DeviceRequest;
    stream: never;
  };
  /** POST /v1/account/device/decision: Give a machine an API key, or refuse it */
  decideDeviceRequest: {
    path: unknown;
    query: unknown;
    body: DecideDeviceRequest;
    reply: Record<string, never>;
    stream: never;
  };
  /** POST /v1/account/authorization: Read which program asks for access */
  readAuthorization: {
    path: unknown;
    query: unknown;
    body: ReadAuthorization;
    reply: AuthorizationRequest;
    stream: never;
  };
  /** POST /v1/account/authorization/decision: Give a program access, or refuse it */
  decideAuthorization: {
    path: unknown;
    query: unknown;
    body: DecideAuthorization;
    reply: AuthorizationAnswer;
    stream: never;
  };
  /** GET /v1/account/grants: List the programs that have access */
  listGrants: {
    path: unknown;
    query: unknown;
    body: undefined;
    reply: GrantList;
    stream: never;
  };
  /** DELETE /v1/account/grants/{id}: Revoke the access of a program */
  revokeGrant: {
    path: {
      id: string;
    };
    query: unknown;
    body: undefined;
    reply: Grant;
    stream: never;
  };
  /** POST /v1/agents/import: Import an agent from an export */
  importAgent: {
    path: unknown;
    query: {
      /** `false`: answer 202 at once, with what is so then. Wins over the header Prefer where both are sent. */
      wait?: boolean | undefined;
      /** By default the exported agent's name. */
      name?: string | undefined;
    };
    body: Uint8Array;
    reply: ImportedAgent;
    stream: never;
  };
  /** POST /v1/hooks/{token}: Send a message to an agent by its hook */
  sendToHook: {
    path: {
      /** The hook's token. */
      token: string;
    };
    query: unknown;
    body: Uint8Array;
    reply: HookReceipt;
    stream: never;
  };
  /** POST /v1/oauth/device_authorization: Begin to sign a machine in */
  createDeviceAuthorization: {
    path: unknown;
    query: unknown;
    body: DeviceAuthorizationRequest;
    reply: DeviceAuthorization;
    stream: never;
  };
  /** POST /v1/oauth/token: Fetch a key or a token */
  createToken: {
    path: unknown;
    query: unknown;
    body: TokenRequest;
    reply: Token;
    stream: never;
  };
  /** POST /v1/oauth/register: Register a program */
  registerOAuthClient: {
    path: unknown;
    query: unknown;
    body: RegisterOAuthClient;
    reply: OAuthClient;
    stream: never;
  };
  /** POST /v1/oauth/revoke: Revoke a token */
  revokeToken: {
    path: unknown;
    query: unknown;
    body: RevokeToken;
    reply: Record<string, never>;
    stream: never;
  };
}
