/** The OpenAPI document as tests read it. */

// eslint-disable-next-line typescript/no-explicit-any -- a JSON Schema is any object
export type Schema = any;

export interface Operation {
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  /** Its operation object, whose parameters and replies are written out. */
  readonly schema: Schema;
}

/** The node that a reference leads to, or the node itself. */
export function resolve(document: Schema, node: Schema): Schema {
  if (typeof node?.$ref !== 'string') return node;
  const path: string[] = node.$ref.slice(2).split('/');
  return resolve(
    document,
    path.reduce((parent, key) => parent[key], document),
  );
}

export function operationsOf(document: Schema): Operation[] {
  return Object.entries<Record<string, Schema>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { parameters = [], responses, ...rest }]) => ({
      method: method.toUpperCase(),
      path,
      schema: {
        ...rest,
        parameters: parameters.map((parameter: Schema) => resolve(document, parameter)),
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, reply]) => [status, resolve(document, reply)]),
        ),
      },
    })),
  );
}
