import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';

/** Parts of a message that are pictures, in OpenAI's two APIs. */
const pictureParts: readonly unknown[] = ['image_url', 'input_image'];

/** Whether pictures come with what is said last in a request of OpenAI's. Whoever asked wrote it: it may be anything. */
export function hasPictures({ messages, input }: Json): boolean {
  const said = messages ?? input;
  const content = Array.isArray(said) ? asObject(said.at(-1))?.['content'] : null;
  return Array.isArray(content) && content.some((part) => pictureParts.includes(asObject(part)?.['type']));
}
