import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';

/** Parts of a message that are pictures, in OpenAI's two APIs. */
const pictureParts: readonly unknown[] = ['image_url', 'input_image'];

/** Whether the last message of an OpenAI request has pictures. A caller wrote the request, so it may contain anything. */
export function hasPictures({ messages, input }: Json): boolean {
  const said = messages ?? input;
  const content = Array.isArray(said) ? asObject(said.at(-1))?.['content'] : null;
  return Array.isArray(content) && content.some((part) => pictureParts.includes(asObject(part)?.['type']));
}
