import { wholeReply } from './http/body.ts';
import { Transport } from './http/transport.ts';
import type { Call } from './http/transport.ts';
import type { Query } from './http/url.ts';
import type { CallOptions, LodgeOptions } from './options.ts';
import { Account, Keys, People } from './resources/account.ts';
import { Links, Ports } from './resources/addresses.ts';
import { AgentSkills } from './resources/agent-skills.ts';
import { Agents } from './resources/agents.ts';
import { Browsers } from './resources/browsers.ts';
import { Channels } from './resources/channels.ts';
import { Chat, Models, Responses } from './resources/chat.ts';
import { Connections } from './resources/connections.ts';
import { AuditEvents, Events } from './resources/events.ts';
import { Exec } from './resources/machine/exec.ts';
import { Files } from './resources/machine/files.ts';
import { Hooks } from './resources/hooks.ts';
import { Members } from './resources/members.ts';
import { Messages } from './resources/messages.ts';
import { Schedules } from './resources/schedules.ts';
import { Snapshots } from './resources/snapshots.ts';
import { Service } from './resources/service.ts';
import { OAuth, Secrets } from './resources/sign-in.ts';
import { Terminals } from './resources/machine/terminal.ts';
import { Uploads } from './resources/machine/uploads.ts';
import { LlmCalls, Usage } from './resources/usage.ts';
import { Confirmations } from './resources/confirmations.ts';
import { Skills } from './resources/skills.ts';
import { Webhooks } from './resources/webhooks.ts';

export interface RequestOptions extends CallOptions {
  readonly query?: Query | undefined;
  /** A value for JSON. */
  readonly body?: unknown;
}

/** Lodge's API. Methods have the operations' words; bodies and replies are those of the wire. */
export class Lodge {
  readonly agents: Agents;
  readonly members: Members;
  readonly files: Files;
  readonly uploads: Uploads;
  readonly exec: Exec;
  readonly terminal: Terminals;
  readonly chat: Chat;
  readonly responses: Responses;
  readonly models: Models;
  readonly channels: Channels;
  readonly messages: Messages;
  readonly connections: Connections;
  readonly schedules: Schedules;
  readonly snapshots: Snapshots;
  readonly hooks: Hooks;
  readonly webhooks: Webhooks;
  readonly skills: Skills;
  readonly agentSkills: AgentSkills;
  readonly confirmations: Confirmations;
  readonly events: Events;
  readonly auditEvents: AuditEvents;
  readonly usage: Usage;
  readonly llmCalls: LlmCalls;
  readonly links: Links;
  readonly ports: Ports;
  readonly browsers: Browsers;
  readonly service: Service;
  readonly account: Account;
  readonly keys: Keys;
  readonly people: People;
  readonly oauth: OAuth;
  readonly secrets: Secrets;
  readonly #http: Transport;

  constructor(options: LodgeOptions = {}) {
    const http = new Transport(options);
    this.#http = http;
    this.agents = new Agents(http);
    this.members = new Members(http);
    this.files = new Files(http);
    this.uploads = new Uploads(http);
    this.exec = new Exec(http);
    this.terminal = new Terminals(http);
    this.chat = new Chat(http);
    this.responses = new Responses(http);
    this.models = new Models(http);
    this.channels = new Channels(http);
    this.messages = new Messages(http);
    this.connections = new Connections(http);
    this.schedules = new Schedules(http);
    this.snapshots = new Snapshots(http);
    this.hooks = new Hooks(http);
    this.webhooks = new Webhooks(http);
    this.skills = new Skills(http);
    this.agentSkills = new AgentSkills(http);
    this.confirmations = new Confirmations(http);
    this.events = new Events(http);
    this.auditEvents = new AuditEvents(http);
    this.usage = new Usage(http);
    this.llmCalls = new LlmCalls(http);
    this.links = new Links(http);
    this.ports = new Ports(http);
    this.browsers = new Browsers(http);
    this.service = new Service(http);
    this.account = new Account(http);
    this.keys = new Keys(http);
    this.people = new People(http);
    this.oauth = new OAuth(http);
    this.secrets = new Secrets(http);
  }

  /** The service's address, without `/v1`. */
  get baseUrl(): string {
    return this.#http.origin;
  }

  /** Any request: for what has no method. The path is one of the API, with or without `/v1`. */
  request(method: string, path: string, options: RequestOptions & { readonly stream: true }): Promise<Response>;
  request<T = unknown>(method: string, path: string, options?: RequestOptions): Promise<T>;
  async request(
    method: string,
    path: string,
    { query, body, stream = false, ...options }: RequestOptions & { readonly stream?: boolean } = {},
  ): Promise<unknown> {
    const call: Call = { method: method.toUpperCase(), path: checkedPath(path), query, body };
    if (!stream) return this.#http.json(call, options);
    return wholeReply(await this.#http.open(call, options));
  }
}

/** The path below `/v1`. */
function checkedPath(path: string): string {
  const below = path.startsWith('/') ? path.slice(1) : path;
  return `/${below.startsWith('v1/') ? below.slice(3) : below}`;
}
