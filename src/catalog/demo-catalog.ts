// The default catalog: two models of the built-in demo upstream, so that everything, charges
// included, can be tried without a vendor account. Also the shortest example of a catalog file.

export const DEMO_CATALOG = `# Prices are in service tokens a model token. A million service tokens cost usd_per_million.
[service]
usd_per_million = "1.00"

[[upstream]]
id = "demo"
dialect = "demo"

[[model]]
slug = "demo-chat"
aliases = ["demo"]
display_name = "Demo Chat"
description = "Answers from inside this server. No language model is behind it."
created = "2026-01-01"
context_window = 128000
max_output = 8192
features = ["tools", "json", "vision"]
price = { input = "0.15", cached_input = "0.03", output = "0.60" }
served_by = [{ upstream = "demo", model = "demo-chat" }]

[[model]]
slug = "demo-reasoner"
aliases = ["demo-thinking"]
display_name = "Demo Reasoner"
description = "Like Demo Chat, and thinks aloud before it answers."
created = "2026-01-01"
context_window = 128000
max_output = 8192
features = ["tools", "json", "vision", "reasoning"]
price = { input = "0.60", cached_input = "0.12", output = "2.40" }
served_by = [{ upstream = "demo", model = "demo-reasoner" }]
fallbacks = ["demo-chat"]
`;
