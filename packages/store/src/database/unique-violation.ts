/** SQLSTATE 23505, unique_violation. */
export const isUniqueViolation = (error: unknown): boolean => (error as { readonly code?: unknown }).code === '23505';
