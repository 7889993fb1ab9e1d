/**
 * A request according to the providers' published references: its headers, and every field of its body. Real providers
 * refuse fields they do not know; so does this. Contents of tools' schemas and of what a model is handed back are free.
 */
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { StubRequest, Wire } from './types.ts';

const any = Type.Unknown();
const text = Type.String();
const flag = Type.Boolean();
const tokens = Type.Integer({ minimum: 1 });
const number = Type.Number();
const free = Type.Record(Type.String(), any);
const closed = (required: Record<string, TSchema>, optional: Record<string, TSchema> = {}) =>
  Type.Object(
    { ...required, ...Object.fromEntries(Object.entries(optional).map(([key, value]) => [key, Type.Optional(value)])) },
    { additionalProperties: false },
  );
const kind = (type: string, required: Record<string, TSchema>, optional: Record<string, TSchema> = {}) =>
  closed({ type: Type.Literal(type), ...required }, optional);
const list = (item: TSchema) => Type.Array(item);
const either = (...schemas: TSchema[]) => Type.Union(schemas);
const names = (words: string, schema: TSchema = any) =>
  Object.fromEntries(words.split(' ').map((word) => [word, schema]));

const chatPart = either(
  kind('text', { text }, { cache_control: free }),
  kind('image_url', { image_url: closed({ url: text }, { detail: text }) }),
  kind('input_audio', { input_audio: free }),
  kind('file', { file: free }),
  kind('refusal', { refusal: text }),
);
const chatContent = either(text, list(chatPart));
const role = (name: string, required: Record<string, TSchema>, optional: Record<string, TSchema> = {}) =>
  closed({ role: Type.Literal(name), ...required }, { name: text, ...optional });
const chatCall = closed({
  id: text,
  type: Type.Literal('function'),
  function: closed({ name: text, arguments: text }),
});
const openai = closed(
  {
    model: text,
    messages: list(
      either(
        role('system', { content: chatContent }),
        role('developer', { content: chatContent }),
        role('user', { content: chatContent }),
        role(
          'assistant',
          {},
          {
            content: either(chatContent, Type.Null()),
            tool_calls: list(chatCall),
            refusal: any,
            ...names('reasoning_content reasoning reasoning_details audio'),
          },
        ),
        role('tool', { content: chatContent, tool_call_id: text }),
      ),
    ),
  },
  {
    stream: flag,
    stream_options: closed({}, { include_usage: flag, include_obfuscation: flag }),
    store: flag,
    tools: list(
      kind('function', { function: closed({ name: text }, { description: text, parameters: free, strict: any }) }),
    ),
    max_tokens: tokens,
    max_completion_tokens: tokens,
    ...names('temperature top_p frequency_penalty presence_penalty', number),
    n: tokens,
    ...names(
      'tool_choice parallel_tool_calls reasoning_effort response_format seed stop user metadata logprobs top_logprobs logit_bias ' +
        'modalities audio prediction prompt_cache_key prompt_cache_retention safety_identifier service_tier verbosity web_search_options',
    ),
  },
);

const inputPart = either(
  kind('input_text', { text }),
  kind('input_image', {}, { image_url: text, file_id: text, detail: text }),
  kind('input_file', {}, names('file_id file_data filename file_url')),
  kind('output_text', { text }, { annotations: any, logprobs: any }),
  kind('refusal', { refusal: text }),
);
const inputMessage = { role: text, content: either(text, list(inputPart)) };
const inputItem = either(
  closed(inputMessage, { type: Type.Literal('message'), id: text, status: text, phase: any }),
  kind('function_call', { call_id: text, name: text, arguments: text }, { id: text, status: text }),
  kind('function_call_output', { call_id: text, output: either(text, list(inputPart)) }, { id: text, status: text }),
  kind('reasoning', { summary: list(free) }, { id: text, content: any, encrypted_content: any, status: text }),
  kind('item_reference', { id: text }),
);
const responses = closed(
  { model: text, input: either(text, list(inputItem)) },
  {
    stream: flag,
    store: flag,
    instructions: either(text, Type.Null()),
    max_output_tokens: tokens,
    tools: list(kind('function', { name: text }, { description: text, parameters: free, strict: any })),
    reasoning: closed({}, names('effort summary generate_summary')),
    text: closed({}, names('format verbosity')),
    ...names('temperature top_p', number),
    ...names(
      'include metadata parallel_tool_calls previous_response_id conversation prompt prompt_cache_key prompt_cache_retention ' +
        'safety_identifier service_tier stream_options tool_choice top_logprobs truncation user max_tool_calls context_management',
    ),
  },
);

const cache = {
  cache_control: closed({ type: Type.Literal('ephemeral') }, { ttl: either(Type.Literal('5m'), Type.Literal('1h')) }),
};
const plainBlock = either(
  kind('text', { text }, { ...cache, citations: any }),
  kind('image', { source: free }, cache),
  kind('document', { source: free }, { ...cache, ...names('title context citations') }),
);
const block = either(
  plainBlock,
  kind('thinking', { thinking: text, signature: text }),
  kind('redacted_thinking', { data: text }),
  kind('tool_use', { id: text, name: text, input: free }, { ...cache, caller: any }),
  kind('tool_result', { tool_use_id: text }, { ...cache, content: either(text, list(plainBlock)), is_error: flag }),
);
const anthropic = closed(
  {
    model: text,
    max_tokens: tokens,
    messages: list(
      closed({
        role: either(Type.Literal('user'), Type.Literal('assistant')),
        content: either(text, list(block)),
      }),
    ),
  },
  {
    stream: flag,
    system: either(text, list(kind('text', { text }, cache))),
    tools: list(
      closed(
        { name: text, input_schema: free },
        { type: text, description: text, strict: any, eager_input_streaming: any, ...cache },
      ),
    ),
    thinking: free,
    temperature: number,
    top_p: number,
    top_k: number,
    stop_sequences: list(text),
    ...names(
      'metadata tool_choice service_tier container context_management mcp_servers output_config cache_control speed',
    ),
  },
);

const part = either(
  closed({ text }, { thought: flag, thoughtSignature: text }),
  closed({ inlineData: closed({ mimeType: text, data: text }) }, { thoughtSignature: text }),
  closed({ fileData: free }),
  closed({ functionCall: closed({ name: text }, { args: free, id: text }) }, { thoughtSignature: text, thought: flag }),
  closed({ functionResponse: closed({ name: text, response: free }, { id: text, parts: any }) }),
);
const content = closed({ parts: list(part) }, { role: either(Type.Literal('user'), Type.Literal('model')) });
const google = closed(
  { contents: list(content) },
  {
    systemInstruction: closed({ parts: list(part) }, { role: text }),
    tools: list(
      closed(
        {},
        {
          functionDeclarations: list(
            closed({ name: text }, names('description parameters parametersJsonSchema behavior response')),
          ),
          ...names('googleSearch codeExecution urlContext'),
        },
      ),
    ),
    toolConfig: closed({}, names('functionCallingConfig retrievalConfig')),
    generationConfig: closed(
      {},
      {
        maxOutputTokens: tokens,
        ...names('temperature topP topK presencePenalty frequencyPenalty', number),
        ...names(
          'stopSequences candidateCount responseMimeType responseSchema responseJsonSchema seed thinkingConfig responseModalities',
        ),
      },
    ),
    safetySettings: list(free),
    cachedContent: text,
  },
);

const bodies: Readonly<Record<Wire, TSchema>> = { openai, responses, anthropic, google };
const compiled = new Map<Wire, ReturnType<typeof Compile>>();

const usualHeaders = 'host connection content-type content-length accept accept-encoding user-agent'.split(' ');
const ownHeaders: Readonly<Record<Wire, readonly string[]>> = {
  openai: ['authorization'],
  responses: ['authorization'],
  anthropic: ['x-api-key', 'anthropic-version', 'anthropic-beta'],
  google: ['x-goog-api-key'],
};

/** The first difference between a request and its published API; null when there is none. */
export function breachOf(request: StubRequest): string | null {
  const { wire, headers, body } = request;
  const known = new Set([...usualHeaders, ...ownHeaders[wire]]);
  const strange = Object.keys(headers).find((name) => !known.has(name));
  if (strange) return `Unexpected header ${strange}.`;
  if (headers['content-type'] !== 'application/json') return 'content-type must be application/json.';
  const accept = request.stream ? 'text/event-stream' : 'application/json';
  if (headers.accept !== accept) return `accept must be ${accept}.`;
  if (Number(headers['content-length']) !== Buffer.byteLength(request.rawBody)) return 'content-length is wrong.';
  const check = compiled.get(wire) ?? Compile(bodies[wire]);
  compiled.set(wire, check);
  if (check.Check(body)) return null;
  const [first] = check.Errors(body);
  return `${first?.instancePath ?? ''}: ${first?.message ?? 'not as published'}`;
}
