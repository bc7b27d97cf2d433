// Tables for profiles that the gateway does not have yet, under the names that they will have. A table
// leaves this file as soon as the profile is built in; the file goes with the last one.

/** The tables as text of a catalog. */
export const TEMPORARY_PROFILES = `
[profile.bedrock]
base = "anthropic"
credential = "bearer"
forced_choice = "instruct"
thinking_binding = "drop_block"

[profile.vertex]
base = "anthropic"
credential = "bearer"
forced_choice = "instruct"
thinking_binding = "drop_block"
`;
