/**
 * Components whose shape is OpenAI's. The contract passes them on as they are and checks little of them, so their types are
 * written by hand.
 */
export const openAiTypes: Readonly<Record<string, string>> = {
  ChatMessage: `export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | (string & {});
  /** A text, or parts: \`{type: 'text', text}\`, \`{type: 'image_url', image_url: {url}}\`. */
  content?: string | readonly Record<string, unknown>[] | null | undefined;
  name?: string | undefined;
  [name: string]: unknown;
}`,
  ChatChoice: `export interface ChatChoice {
  index: number;
  message: { role: 'assistant'; content: string | null; [name: string]: unknown };
  finish_reason: string | null;
  [name: string]: unknown;
}`,
  ChatChunkChoice: `export interface ChatChunkChoice {
  index: number;
  delta: { role?: string; content?: string | null; [name: string]: unknown };
  finish_reason: string | null;
  [name: string]: unknown;
}`,
  ResponseItem: `export interface ResponseItem {
  type?: string | undefined;
  role?: string | undefined;
  content?: string | readonly Record<string, unknown>[] | undefined;
  [name: string]: unknown;
}`,
  ResponseOutput: `export interface ResponseOutput {
  type: string;
  id?: string;
  role?: string;
  status?: string;
  /** Of a message: its parts, where \`{type: 'output_text', text}\` is what was said. */
  content?: { type: string; text?: string; [name: string]: unknown }[];
  [name: string]: unknown;
}`,
};
