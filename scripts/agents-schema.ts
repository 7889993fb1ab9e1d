/**
 * The JSON Schema of files that `lodge apply` takes, from the OpenAPI document: fields have the API's names and bounds. Secrets
 * are named by where they lie, and texts can lie in files.
 */
import { abilitiesOf, channelInputNames, maxAgentSkills, runtimeKinds } from '@lodge/domain';

type Json = Readonly<Record<string, unknown>>;

const file = { type: 'string', minLength: 1, maxLength: 4096 } as const;

const secretSources = {
  env: { ...file, maxLength: 256, description: 'The name of an environment variable.' },
  file: { ...file, description: 'A file, from the folder of this file on. White space at its ends is dropped.' },
  stdin: { type: 'boolean', const: true, description: 'Read from stdin. One secret can be.' },
} as const;

/** Definitions that the API does not have. */
const ownDefinitions = {
  Secret: {
    description: 'Where a secret lies. The file never has the secret itself.',
    type: 'object',
    properties: secretSources,
    additionalProperties: false,
    oneOf: [{ required: ['env'] }, { required: ['file'] }, { required: ['stdin'] }],
  },
  HeaderSecret: {
    description: "Where a header's value lies.",
    type: 'object',
    properties: {
      ...secretSources,
      prefix: { type: 'string', maxLength: 64, description: 'Put before the secret, such as `Bearer `.' },
    },
    additionalProperties: false,
    oneOf: [{ required: ['env'] }, { required: ['file'] }, { required: ['stdin'] }],
  },
  TextFile: {
    type: 'object',
    required: ['file'],
    properties: { file: { ...file, description: 'A text file, from the folder of this file on.' } },
    additionalProperties: false,
  },
  Files: {
    description: 'What lies in the workspace.',
    type: 'object',
    required: ['to'],
    properties: {
      from: { ...file, description: 'A file or a folder, from the folder of this file on.' },
      text: { type: 'string', maxLength: 1_048_576, description: 'The contents of a file.' },
      to: { ...file, description: 'The path in the workspace; `/` is the workspace.' },
      prune: { type: 'boolean', description: 'Removes from the folder what is not in `from`.' },
    },
    additionalProperties: false,
    oneOf: [{ required: ['from'] }, { required: ['text'] }],
  },
} as const;

/** Fields of `POST /v1/agents` that an agent of a file has as they are. */
const agentFields = [
  'model',
  'description',
  'size',
  'labels',
  'metadata',
  'lifecycle',
  'spend_limit',
  'egress',
  'env',
  'packages',
  'confirmations',
  'models',
  'dashboard',
  'browser',
];

export function agentsSchema(openApi: string): string {
  const { schemas } = (JSON.parse(openApi) as { components: { schemas: Readonly<Record<string, Json>> } }).components;
  const definitions: Record<string, unknown> = {};
  const taken = new Taken(schemas, definitions);
  const labels = taken.field('CreateAgent', 'labels');
  Object.assign(definitions, ownDefinitions, {
    Channel: taken.whole('PutChannel'),
    Connection: connection(taken.whole('PutConnection')),
    Hook: taken.whole('CreateHook'),
    Member: member(taken.whole('CreateMember')),
    Port: taken.whole('PublishPort'),
    Schedule: taken.whole('CreateSchedule'),
    Skill: skill(taken.whole('PutAgentSkill'), taken.field('AgentSkill', 'name')),
    Webhook: taken.whole('CreateWebhook'),
  });
  definitions['Agent'] = agent(taken);
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Agents of Lodge',
    description: 'Agents as `lodge apply` makes them.',
    type: 'object',
    required: ['version'],
    properties: {
      $schema: { type: 'string', maxLength: 2000 },
      version: { type: 'integer', const: 1 },
      labels: { ...labels, description: 'Put on every agent of the file.' },
      agents: { type: 'array', maxItems: 1000, items: reference('Agent') },
      webhooks: list('Webhook', 'Where events are sent, by URL.'),
    },
    additionalProperties: false,
    $defs: definitions,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function agent(taken: Taken): Json {
  const fieldOf = (name: string): Json => taken.field('CreateAgent', name);
  return {
    type: 'object',
    required: ['name'],
    properties: {
      name: { ...fieldOf('name'), description: 'The agent of the account that has this name, or a new one.' },
      id: {
        type: 'string',
        pattern: '^[a-z][a-z0-9]{11}$',
        description: 'Pins the agent, so that its name may change.',
      },
      runtime: {
        type: 'string',
        enum: runtimeKinds.map((kind) => abilitiesOf(kind).name),
        description: 'Software of a new agent. It never changes.',
      },
      state: { type: 'string', enum: ['running', 'stopped'], description: '`running` lets it sleep when it is idle.' },
      ...Object.fromEntries(agentFields.map((name) => [name, fieldOf(name)])),
      peers: peers(fieldOf('peers')),
      instructions: text(fieldOf('instructions')),
      llm_keys: map(keyOf(fieldOf('llm_keys')), 20, "Providers' keys, by the ids of `GET /v1/providers`."),
      members: list('Member', 'Colleagues in the machine, by name.'),
      skills: { ...list('Skill', "Skills of the account's library, by name."), maxItems: maxAgentSkills },
      files: { ...list('Files', 'Contents of the workspace.'), maxItems: 100 },
      channels: {
        type: 'object',
        description: 'Messaging channels, by platform.',
        properties: Object.fromEntries(channelInputNames.map((name) => [name, reference('Channel')])),
        additionalProperties: false,
      },
      connections: {
        ...map(reference('Connection'), 100, 'Services that the agent uses, by name.'),
        propertyNames: { type: 'string', maxLength: 32, pattern: '^[a-z][a-z0-9-]*$' },
      },
      schedules: list('Schedule', 'Prompts at times, by name.'),
      hooks: list('Hook', 'Addresses for requests of others, by name.'),
      ports: list('Port', 'Published ports.'),
    },
    additionalProperties: false,
  };
}

const reference = (name: string): Json => ({ $ref: `#/$defs/${name}` });
const list = (name: string, description: string): Json => ({
  type: 'array',
  maxItems: 1000,
  description,
  items: reference(name),
});
const map = (values: unknown, maxProperties: number, description: string): Json => ({
  type: 'object',
  maxProperties,
  description,
  additionalProperties: values,
});

/** Names of agents, besides ids. */
const peers = (schema: Json): Json => ({
  ...schema,
  description: 'Agents that it may ask: names, ids, or `*` for all.',
  items: { type: 'string', minLength: 1, maxLength: 100 },
});

const text = ({ description, ...schema }: Json): Json => ({
  description,
  anyOf: [{ ...schema, type: 'string' }, { type: 'null' }, reference('TextFile')],
});

const keyOf = ({ items }: Json): unknown => (items as { properties: Json }).properties['api_key'];

const member = (schema: Json): Json => {
  const properties = schema['properties'] as Readonly<Record<string, Json>>;
  return { ...schema, properties: { ...properties, instructions: text(properties['instructions']!) } };
};

/** The skill of a file is named, and the library has one of each name. */
const skill = (schema: Json, name: Json): Json => {
  const { skill: _, ...properties } = schema['properties'] as Readonly<Record<string, Json>>;
  return { ...schema, required: ['name'], properties: { name, ...properties } };
};

/** Headers can have a prefix, because a token alone is what lies in a variable. */
const connection = (schema: Json): Json => {
  const properties = schema['properties'] as Readonly<Record<string, Json>>;
  const headers = properties['headers']!;
  const value = { ...(headers['additionalProperties'] as Json), ...reference('HeaderSecret') };
  return { ...schema, properties: { ...properties, headers: { ...headers, additionalProperties: value } } };
};

/** Takes schemas of the document over, with the components that they refer to. */
class Taken {
  readonly #schemas: Readonly<Record<string, Json>>;
  readonly #definitions: Record<string, unknown>;

  constructor(schemas: Readonly<Record<string, Json>>, definitions: Record<string, unknown>) {
    this.#schemas = schemas;
    this.#definitions = definitions;
  }

  whole(name: string): Json {
    const schema = this.#schemas[name];
    if (schema === undefined) throw new Error(`the OpenAPI document has no schema ${name}`);
    return this.#value(schema) as Json;
  }

  field(name: string, field: string): Json {
    const properties = this.#schemas[name]?.['properties'] as Readonly<Record<string, Json>> | undefined;
    if (properties?.[field] === undefined) throw new Error(`the OpenAPI document has no ${name}.${field}`);
    return this.#value(properties[field]) as Json;
  }

  #value(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#value(each));
    if (typeof value !== 'object' || value === null) return value;
    const schema = Object.fromEntries(Object.entries(value).filter(([key]) => !/^examples?$/.test(key)));
    if (schema['writeOnly'] === true) return secret(schema);
    const pointer = schema['$ref'];
    if (typeof pointer === 'string') {
      const name = pointer.replace('#/components/schemas/', '');
      this.#definitions[name] ??= this.whole(name);
      return reference(name);
    }
    return Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, this.#value(inner)]));
  }
}

/** The bounds of the secret itself stay beside its source, for the check before anything is sent. */
function secret(schema: Json): Json {
  const { description } = schema;
  const bounds = Object.entries(schema).filter(([key]) => !['writeOnly', 'type', 'description'].includes(key));
  return {
    ...(description !== undefined && { description }),
    ...reference('Secret'),
    'x-secret': Object.fromEntries(bounds),
  };
}
