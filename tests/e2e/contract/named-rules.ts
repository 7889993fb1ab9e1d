/**
 * Refusals that no schema can say: the operation, the message, and why a schema cannot. The server may answer 400 to a request
 * that its schemas accept by these rules alone.
 */
export const namedRules: readonly (readonly [operation: RegExp, message: RegExp, reason: string])[] = [
  [/^POST \/v1\/agents\/import/, /^The file cannot be imported/, 'bytes have no schema'],
  [/^GET /, /^cursor is not one this service gave/, 'a cursor is sealed, and of one list'],
  [/ \/v1\/agents/, /^name (is required and )?must not be blank/, 'the server trims a name first'],
  [
    /^(POST|PATCH) \/v1\/agents/,
    /^model(s\[0\])? must have the form <provider>\/<model_name>/,
    'each runtime has its form',
  ],
  [/^(POST|PATCH) \/v1\/agents/, /^llm_keys\[0\]\.provider is unknown/, 'the operator adds providers'],
  [
    /^(POST|PATCH) \/v1\/agents/,
    /^llm_keys\[1\]\.provider anthropic is given twice/,
    'a schema compares whole items alone',
  ],
  [
    /^(POST|PATCH) \/v1\/agents/,
    /^packages\.(apt|pip|npm)\[1\] names \S+ a second time/,
    'two versions of one package are two items to a schema',
  ],
  [
    /^(POST|PATCH) \/v1\/agents/,
    /^dashboard can be true for runtime_b only/,
    'the runtime of a change is in the record',
  ],
  [/^(POST|PATCH) \/v1\/agents/, /^peers\[0\] is no other agent of the account/, 'agents come and go'],
  [
    /^(POST|PATCH) \/v1\/agents/,
    /^confirmations\.rules\[0\]\.on must be connection:<name>/,
    'connections, tools and groups have forms of their own',
  ],
  [
    /^(POST|PATCH) \/v1\/agents/,
    /^confirmations\.rules\[0\]\.on: the agent has no connection/,
    'connections come and go',
  ],
  [
    /^(POST|PATCH) \/v1\/agents/,
    /^confirmations\.deliver\[0\]\.conversation is none that wrote/,
    'conversations come and go',
  ],
  [/^(POST|PATCH) \/v1\/agents/, /^confirmations\.expires must be a time/, 'its range is in three units'],
  [/^POST \/v1\/agents$/, /^runtime_kind runtime_b is not available/, 'a deployment has the runtimes that it has'],
  [/^PATCH \/v1\/agents\/\{id\}$/, /^(labels|metadata) would have more than 50 pairs/, 'the pairs that stay count too'],
  [/^POST .*\/links$/, /^page: this agent has no dashboard/, 'the runtime of the agent is in the record'],
  [/^POST .*\/links$/, /^page: this agent has no browser/, 'the field of the agent is in the record'],
  [/responses$/, /^previous_response_id is not one that this agent gave/, 'ids of responses are sealed'],
  [/\/schedules/, /^cron must have five fields/, 'a cron expression is a language'],
  [/\/schedules/, /^every must be minutes, hours or days/, 'its range is in three units'],
  [/\/schedules/, /^time_zone must be a time zone/, 'zones come and go'],
  [/^(POST|PATCH) \/v1\/agents/, /^snapshots\.every must be minutes, hours or days/, 'its range is in three units'],
  [/\/restore$/, /^paths? must /, 'the names of a path have bounds of their own'],
  [/ \/v1\/snapshots/, /^name must not be blank/, 'the server trims a name first'],
  [/\/fork$/, /^size must not be smaller than that of the snapshot/, 'the agent has a size'],
  [/\/fork$/, /^confirmations\.deliver must be empty/, 'rules are those of a PATCH but for that'],
  [/\/usage$/, /^time_zone must be a name of the IANA time zone database/, 'zones come and go'],
  [/\/usage$/, /^starting_at must be before ending_at/, 'one time is compared with another'],
  [/\/(schedules|hooks)/, /^deliver\.conversation is none that wrote/, 'conversations come and go'],
  [/\/channels\/\{channel\}\/test$/, /^conversation is none that wrote/, 'conversations come and go'],
  [/\/hooks$/, /^signature\.secret must be whsec_ and base64/, 'the server decodes the key'],
  [
    /^PUT .*\/channels/,
    /^(app|bot)Token is not a known field of WhatsApp/,
    'the path says which secrets a channel has',
  ],
  [/^POST .*\/uploads\/\{upload\}$/, /^path must have names of at most 255 bytes/, 'each name has a bound of its own'],
  [
    /^POST .*\/uploads\/\{upload\}$/,
    /^if-none-match must be \* here/,
    'a write asks whether anything is there, no more',
  ],
  [/\/(terminal|tunnel)$/, /^Open a WebSocket here/, 'it is another protocol'],
];

/** Operations that are asked about an agent that is not there, so that what is accepted has no effect. */
export const aboutNobody = /^DELETE |^GET \/v1\/agents\/\{id\}$|whatsapp\/pair$/;

/**
 * Operations whose good requests end the session that asks, hash a password, need a code that somebody just got, or fetch from elsewhere:
 * only what is wrong is sent to them.
 */
export const onlyWrong = /^\S+ \/v1\/(?:account|oauth)\/|^POST \/v1\/skills$/;

/** Operations of third parties, which ignore query parameters. */
export const anyQuery = /^POST \/v1\/hooks\//;
