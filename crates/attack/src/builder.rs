//! What the areas build their cases with: names, declarations, expressions with spots, and the harness's side of a call.

use crate::case::{Case, Part};
use crate::random::Random;
use crate::spot::spot;
use crate::types::{INTEGERS, Type, Wanted, random_type};

/// What the compilers of this batch allow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setting {
    /// Vectors of 32 bytes in registers.
    pub avx: bool,
    /// Both sides are compiled by gcc.
    pub gcc: bool,
    /// The original has debug information.
    pub described: bool,
    /// Both sides are compiled without optimisation.
    pub plain: bool,
    /// The compilers know the library's functions.
    pub builtin: bool,
    /// Tentative definitions are common symbols.
    pub common: bool,
    /// What is compared.
    pub files: Files,
}

/// What is made of each side before it is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// Nothing: it is an object.
    #[default]
    Objects,
    /// A shared library.
    Libraries,
    /// An executable, with the harness in it.
    Executables,
}

/// A parameter of a generated function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// As declared, with the name.
    pub declaration: String,
    /// Statements of the harness that declare and seed a variable of this name.
    pub prepare: String,
    /// Statements of the harness after the call.
    pub look: String,
}

/// A case in the making.
pub struct Builder<'a> {
    /// The choices.
    pub random: &'a mut Random,
    /// What is allowed.
    pub setting: Setting,
    /// Names that only one case of a batch can have.
    pub taken: &'a mut Vec<String>,
    id: usize,
    shape: &'static str,
    parts: Vec<Part>,
    harness: String,
    run: String,
    counter: usize,
}

impl<'a> Builder<'a> {
    /// An empty case.
    pub fn new(id: usize, random: &'a mut Random, setting: Setting, taken: &'a mut Vec<String>) -> Self {
        Builder {
            random,
            setting,
            taken,
            id,
            shape: "",
            parts: Vec::new(),
            harness: String::new(),
            run: String::new(),
            counter: 0,
        }
    }

    /// The case as it stands.
    pub fn finish(self) -> Case {
        let harness = format!("{}void run_{}(void) {{\n{}}}\n", self.harness, self.id, self.run);
        Case { id: self.id, shape: self.shape, parts: self.parts, harness }
    }

    /// Names the shape, for reports.
    pub fn shape(&mut self, shape: &'static str) {
        self.shape = shape;
    }

    /// A name that no other case has.
    pub fn name(&self, stem: &str) -> String {
        format!("{stem}_{}", self.id)
    }

    /// A name that is new in this case, too.
    pub fn fresh(&mut self, stem: &str) -> String {
        self.counter += 1;
        format!("{stem}{}_{}", self.counter, self.id)
    }

    /// Declarations and data of both sides.
    pub fn top(&mut self, text: impl Into<String>) {
        self.parts.push(Part { function: None, text: text.into() + "\n" });
    }

    /// A function of both sides.
    pub fn function(&mut self, name: &str, text: impl Into<String>) {
        self.parts.push(Part { function: Some(name.into()), text: text.into() + "\n" });
    }

    /// A local function whose text is inside that of another.
    pub fn function_inside(&mut self, name: &str) {
        self.parts.push(Part { function: Some(name.into()), text: "static ".into() });
    }

    /// A piece of the harness.
    pub fn harness(&mut self, text: impl AsRef<str>) {
        self.harness.push_str(text.as_ref());
        self.harness.push('\n');
    }

    /// Declarations of both sides and of the harness.
    pub fn shared(&mut self, text: &str) {
        if !text.is_empty() {
            self.top(text.trim_end());
            self.harness(text.trim_end());
        }
    }

    /// A statement of the harness's run.
    pub fn run(&mut self, text: impl AsRef<str>) {
        self.run.push_str("  ");
        self.run.push_str(text.as_ref());
        self.run.push('\n');
    }

    /// A random type, declared.
    pub fn any_type(&mut self) -> Type {
        let name = self.fresh("T");
        let mut declared = String::new();
        let wanted =
            Wanted { avx: self.setting.avx, wide: self.setting.gcc, extended: self.random.one_in(3), depth: 1 };
        let chosen = random_type(self.random, &name, wanted, &mut declared);
        self.shared(&declared);
        chosen
    }

    /// A random integer type of at most eight bytes.
    pub fn integer(&mut self) -> Type {
        Type::Scalar(*self.random.pick(&INTEGERS))
    }

    /// A parameter by value.
    pub fn by_value(&mut self, name: &str, of: &Type) -> Parameter {
        let prepare = format!("{} {name}; __builtin_memset(&{name}, 0, sizeof {name}); {}", of.c(), of.seed(name));
        Parameter { name: name.into(), declaration: format!("{} {name}", of.c()), prepare, look: String::new() }
    }

    /// A parameter that points to an object of the harness, `count` elements of a type.
    pub fn by_pointer(&mut self, name: &str, of: &Type, count: usize) -> Parameter {
        let object = self.fresh("object");
        let c = of.c();
        self.harness(format!("ARENA {c} {object}[{count}];"));
        let prepare: String = (0..count).map(|i| of.seed(&format!("{object}[{i}]"))).collect();
        let look: String = (0..count).map(|i| of.see(&format!("{object}[{i}]"))).collect();
        Parameter {
            name: name.into(),
            declaration: format!("{c} *{name}"),
            prepare: format!("{prepare}{c} *{name} = {object};"),
            look: format!("see_label(\"*{name}\"); {look}"),
        }
    }

    /// Two parameters that point into one array of the harness, at distances that often overlap.
    pub fn aliasing(&mut self, names: &[&str], of: &Type, room: usize) -> Vec<Parameter> {
        let object = self.fresh("shared");
        let c = of.c();
        let count = room * 3;
        self.harness(format!("ARENA {c} {object}[{count}];"));
        let mut parameters: Vec<Parameter> = names
            .iter()
            .map(|name| Parameter {
                name: (*name).into(),
                declaration: format!("{c} *{name}"),
                prepare: format!("{c} *{name} = {object} + rnd() % {};", 2 * room),
                look: String::new(),
            })
            .collect();
        if let Some(first) = parameters.first_mut() {
            let seed: String = of.seed(&format!("{object}[k_]"));
            let see: String = of.see(&format!("{object}[k_]"));
            first.prepare = format!("for (int k_ = 0; k_ < {count}; k_++) {{ {seed}}} {}", first.prepare);
            first.look = format!("see_label(\"memory\"); for (int k_ = 0; k_ < {count}; k_++) {{ {see}}}");
        }
        parameters
    }

    /// A parameter that points to a short text of the letters a to c.
    pub fn text(&mut self, name: &str) -> Parameter {
        let object = self.fresh("text");
        self.harness(format!("ARENA char {object}[64];"));
        Parameter {
            name: name.into(),
            declaration: format!("char *{name}"),
            prepare: format!(
                "for (int k_ = 0, n_ = rnd() % 9; k_ < 64; k_++) {object}[k_] = k_ < n_ ? 'a' + rnd() % 3 : 0; char *{name} = {object};"
            ),
            look: format!("see_label(\"{name}\"); see_bytes({object}, 64);"),
        }
    }

    /// An index from 0 to `below` - 1.
    pub fn index(&mut self, name: &str, below: usize) -> Parameter {
        let c = ["int", "long", "unsigned", "unsigned long"][self.random.below(4)];
        Parameter {
            name: name.into(),
            declaration: format!("{c} {name}"),
            prepare: format!("{c} {name} = rnd() % {below};"),
            look: String::new(),
        }
    }

    /// A number, in one of four runs the one that is given.
    pub fn driven(&mut self, name: &str, of: &Type, values: &[i64]) -> Parameter {
        let mut parameter = self.by_value(name, of);
        if !values.is_empty() {
            let list = values.iter().map(|v| format!("{v}l")).collect::<Vec<_>>().join(", ");
            parameter.prepare.push_str(&format!(
                " {{ static const long d_[] = {{{list}}}; DRIVE({name}, ({})d_[rnd() % {}]); }}",
                of.c(),
                values.len()
            ));
        }
        parameter
    }

    /// A parameter and a condition on it that random inputs do not meet, and that the harness does.
    pub fn rare(&mut self, name: &str) -> (Parameter, String) {
        let factor = (self.random.next() as u32) | 1;
        let inverse = (0..5).fold(factor, |x, _| x.wrapping_mul(2u32.wrapping_sub(factor.wrapping_mul(x))));
        let wanted = self.random.next() as u32;
        let solved = inverse.wrapping_mul(wanted);
        let parameter = self.driven(name, &Type::Scalar(INTEGERS[1]), &[i64::from(solved)]);
        (parameter, format!("({name} * {factor}u) >> 8 == {}u", wanted >> 8))
    }

    /// The harness calls `function` with these parameters, and observes the result.
    pub fn call(&mut self, function: &str, parameters: &[Parameter], result: Option<&Type>) {
        let list = parameters.iter().map(|p| p.name.clone()).collect::<Vec<_>>().join(", ");
        let declared = parameter_list(parameters);
        self.harness(format!("{} {function}({declared});", result.map_or("void".into(), Type::c)));
        self.run("{");
        for parameter in parameters {
            let prepare = parameter.prepare.clone();
            self.run(prepare);
        }
        match result {
            Some(of) => {
                let see = of.see("result");
                self.run(format!("{} result = {function}({list}); see_label(\"{function}\"); {see}", of.c()));
            }
            None => self.run(format!("{function}({list}); see_label(\"{function}\");")),
        }
        for parameter in parameters {
            let look = parameter.look.clone();
            self.run(look);
        }
        self.run("}");
    }

    /// A callee in the harness: it observes its arguments, writes through pointers at times, and returns something seeded.
    pub fn callee(&mut self, name: &str, arguments: &[Type], result: Option<&Type>) {
        self.callee_with("", name, arguments, result);
    }

    /// The same with an attribute.
    pub fn callee_with(&mut self, attribute: &str, name: &str, arguments: &[Type], result: Option<&Type>) {
        let list: Vec<String> = arguments.iter().enumerate().map(|(i, t)| format!("{} p{i}", t.c())).collect();
        let list = if list.is_empty() { "void".into() } else { list.join(", ") };
        let see: String = arguments.iter().enumerate().map(|(i, t)| t.see(&format!("p{i}"))).collect();
        let result_type = result.map_or("void".into(), Type::c);
        let give = result.map_or(String::new(), |t| {
            format!("{} r; __builtin_memset(&r, 0, sizeof r); {}return r; ", t.c(), t.seed("r"))
        });
        self.harness(format!("{attribute}{result_type} {name}({list}) {{ see_label(\"{name}\"); {see}{give}}}"));
    }

    /// A number in a program.
    pub fn constant(&mut self) -> String {
        let n = self.random.number();
        let text = |n: i64| if n < 0 { format!("({n})") } else { n.to_string() };
        spot("constant", text(n), &[n + 1, n - 1, n ^ 128, -n].map(text))
    }

    /// One of the variables.
    pub fn variable(&mut self, variables: &[&str]) -> String {
        let chosen = *self.random.pick(variables);
        spot("operand", chosen, variables)
    }

    /// An expression over integer variables, free of undefined behaviour with `-fwrapv`.
    pub fn expression(&mut self, variables: &[&str], depth: usize) -> String {
        if depth == 0 || self.random.one_in(5) {
            return if self.random.one_in(3) { self.constant() } else { self.variable(variables) };
        }
        let left = self.expression(variables, depth - 1);
        let right = self.expression(variables, depth - 1);
        match self.random.below(12) {
            0..=4 => {
                let operators = ["+", "-", "*", "&", "|", "^"];
                let operator = *self.random.pick(&operators);
                format!("({left} {} {right})", spot("operator", operator, &operators))
            }
            5 => {
                let by = self.random.below(31);
                format!("({left} {} {})", spot("operator", ">>", &["<<"]), spot("shift", by, &[by + 1]))
            }
            6 => format!("({left} << {})", spot("shift", 3, &[2, 4])),
            7 => format!("({left} {} (({right} & 7) + 1))", spot("operator", "/", &["%"])),
            8 => {
                let casts =
                    ["(char)", "(unsigned char)", "(short)", "(unsigned short)", "(unsigned)", "(int)", "(long)"];
                let cast = *self.random.pick(&casts);
                format!("{}({left} + {right})", spot("conversion", cast, &casts))
            }
            9 => format!("({} ? {left} : {right})", self.condition(variables)),
            10 => format!("({}{left} + {right})", spot("operator", "-", &["~", "!"])),
            _ => self.condition(variables),
        }
    }

    /// A comparison of integers.
    pub fn condition(&mut self, variables: &[&str]) -> String {
        let operators = ["<", "<=", ">", ">=", "==", "!="];
        let operator = *self.random.pick(&operators);
        let left = self.variable(variables);
        let right = if self.random.one_in(2) { self.constant() } else { self.variable(variables) };
        format!("({left} {} {right})", spot("comparison", operator, &operators))
    }
}

/// Parameters as a declaration lists them.
pub fn parameter_list(parameters: &[Parameter]) -> String {
    if parameters.is_empty() {
        "void".into()
    } else {
        parameters.iter().map(|p| p.declaration.clone()).collect::<Vec<_>>().join(", ")
    }
}
